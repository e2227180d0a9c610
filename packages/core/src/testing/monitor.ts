import { randomUUID } from 'node:crypto';
import type { TestRedis } from './redis-server.ts';

/** Sees every command that a Redis is sent, as whoever has access to it can. */
export interface Monitor {
  /** All commands up to now, each with its arguments. */
  seen(): Promise<readonly string[]>;
  stop(): void;
}

export async function monitorRedis({ client }: TestRedis): Promise<Monitor> {
  const commands: string[] = [];
  const monitor = await client.monitor();
  monitor.on('monitor', (_time: string, args: readonly string[]) => void commands.push(args.join(' ')));
  return {
    async seen() {
      const mark = randomUUID();
      const marked = new Promise<void>((resolve) => {
        monitor.on('monitor', (_time: string, args: readonly string[]) => args[1] === mark && resolve());
      });
      await client.echo(mark);
      await marked;
      return commands.filter((command) => !command.includes(mark));
    },
    stop: () => monitor.disconnect(),
  };
}
