import { Controller, Get, type INestApplication, UseGuards } from '@nestjs/common';
import { ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { createServer, type Server } from 'node:net';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createLimiter, definePolicy, RateLimitGuard, RateLimitModule, SkipRateLimit } from './index.ts';
import { useApps } from './testing/app.ts';

@Controller()
class HttpController {
  @Get('http')
  http(): string {
    return 'ok';
  }
}

/** What is said in the log, since clients are told nothing of an error. */
function listen(nest: INestApplication): string[] {
  const said: string[] = [];
  const note = (message: unknown): void => void said.push(message instanceof Error ? message.message : String(message));
  nest.useLogger({ log: () => {}, warn: () => {}, error: note });
  return said;
}

const advice = (handler: string, type: string): string =>
  `RateLimitGuard limits HTTP requests; ${handler} is called by "${type}", which has no client address. Mark it with @SkipRateLimit().`;

const policy = definePolicy({ name: 'all', limits: [{ limit: 2, window: '1m', per: 'ip' }] });
const limits = () => RateLimitModule.forRoot({ limiter: createLimiter(), policy });

describe('a WebSocket message', () => {
  const start = useApps();

  // Up to Nest 11, global guards do not run for gateways.
  @UseGuards(RateLimitGuard)
  @WebSocketGateway()
  class Gateway {
    @SubscribeMessage('limited')
    limited(): object {
      return { event: 'limited', data: 'handled' };
    }

    @SkipRateLimit()
    @SubscribeMessage('free')
    free(): object {
      return { event: 'free', data: 'handled' };
    }
  }

  it('is refused with advice, or skipped, and leaves HTTP alone', async () => {
    let said: string[] = [];
    const app = await start(
      'express',
      { imports: [limits()], providers: [Gateway], controllers: [HttpController] },
      (nest) => {
        said = listen(nest);
        nest.useWebSocketAdapter(new WsAdapter(nest));
      },
    );
    const socket = new WebSocket(app.url.replace('http', 'ws'));
    const messages: string[] = [];
    socket.on('open', () => ['limited', 'free'].forEach((event) => socket.send(JSON.stringify({ event }))));
    socket.on('message', (data: Buffer) => void messages.push(data.toString()));
    await vi.waitFor(() => {
      expect(messages).toContain('{"event":"free","data":"handled"}');
      expect(said.join()).toContain(advice('Gateway.limited', 'ws'));
    });
    socket.terminate();
    expect(messages).not.toContain('{"event":"limited","data":"handled"}');
    expect(await app.statuses('/http', 3)).toEqual([200, 200, 429]);
  });
});

describe('a message of a microservice', () => {
  const start = useApps();

  @Controller()
  class Service {
    @MessagePattern('limited')
    limited(): string {
      return 'handled';
    }

    @SkipRateLimit()
    @MessagePattern('free')
    free(): string {
      return 'handled';
    }
  }

  it('is refused with advice, or skipped, and leaves HTTP alone', async () => {
    let said: string[] = [];
    const port = await freePort();
    const options = { host: '127.0.0.1', port };
    const app = await start(
      'express',
      { imports: [limits()], controllers: [Service, HttpController] },
      async (nest) => {
        said = listen(nest);
        nest.connectMicroservice({ transport: Transport.TCP, options }, { inheritAppConfig: true });
        await nest.startAllMicroservices();
      },
    );
    const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
    const send = (pattern: string): Promise<unknown> => firstValueFrom(client.send(pattern, {}));
    expect(await send('free')).toBe('handled');
    await expect(send('limited')).rejects.toMatchObject({ status: 'error' });
    await client.close();
    expect(said.join()).toContain(advice('Service.limited', 'rpc'));
    expect(await app.statuses('/http', 3)).toEqual([200, 200, 429]);
  });
});

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server: Server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
