import type { Decision, RequestContext, Warning } from '@tollgate/express';

/** The part of `process.stdout` that the view writes to. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** Shows each client's decisions as they happen: counted at once, written a few times a second. */
export interface LiveView {
  readonly onDecision: (decision: Decision, ctx: RequestContext) => void;
  readonly onWarning: (warning: Warning) => void;
  /** Writes a sentence that stays. */
  note(text: string): void;
  /** Writes what is not written yet. */
  stop(): void;
}

const EVERY_MS = 200;
/** Clients shown at a time, those that came last. */
const SHOWN = 12;
/** Clients counted at a time. Anybody can be a thousand clients; the demo must not grow with them. */
const KEPT = 1000;

/** One client under one policy. */
interface Row {
  readonly number: number;
  readonly label: string;
  allowed: number;
  denied: number;
  remaining: number | undefined;
  source: Decision['source'];
}

export function createLiveView(terminal: Terminal): LiveView {
  const rows = new Map<string, Row>();
  const changed = new Map<string, Row>();
  let clients = 0;
  let block = 0;
  let timer: NodeJS.Timeout | undefined;
  let writtenAt = -Infinity;

  return {
    onDecision(decision, ctx) {
      const { identity, policies } = decision;
      const policy = policies.length === 1 ? policies[0]?.name : policies.map(({ name }) => name).join(' + ');
      const key = `${identity.token} ${policy}`;
      const row = rows.get(key) ?? addRow(key, `${clientLabel(decision, ctx).padEnd(22)} ${policy?.padEnd(6)}`);
      if (decision.allowed) row.allowed++;
      else row.denied++;
      row.remaining = decision.binding?.remaining;
      row.source = decision.source;
      changed.set(key, row);
      // The view never keeps the process alive.
      timer ??= setTimeout(write, writtenAt + EVERY_MS - performance.now()).unref();
    },
    onWarning: ({ message }) => note(message),
    note,
    stop() {
      clearTimeout(timer);
      if (changed.size > 0) write();
    },
  };

  function addRow(key: string, label: string): Row {
    for (const oldest of rows.keys()) {
      if (rows.size < KEPT) break;
      rows.delete(oldest);
    }
    const row: Row = { number: ++clients, label, allowed: 0, denied: 0, remaining: undefined, source: 'store' };
    rows.set(key, row);
    return row;
  }

  function write(): void {
    timer = undefined;
    writtenAt = performance.now();
    // The rows stand in the order in which they were last written: the oldest is the first to be forgotten.
    for (const [key, row] of changed) {
      rows.delete(key);
      rows.set(key, row);
    }
    if (terminal.isTTY === true) rewrite();
    else append();
    changed.clear();
  }

  /** On a terminal: the same few lines, over and over. */
  function rewrite(text = ''): void {
    // What does not fit, wrapped or scrolled away, could not be written over.
    const most = Math.min(SHOWN, Math.max(1, (terminal.rows ?? 24) - 3));
    const shown = [...rows.values()].slice(-most).toSorted((a, b) => a.number - b.number);
    const lines = [...shown.map(toText), more(rows.size - most)].join('').replaceAll(overlong(terminal.columns), '$1');
    terminal.write(`${block > 0 ? `\x1b[${block}A` : ''}\x1b[0J${text}${lines}`);
    block = lines.split('\n').length - 1;
  }

  /** In a file or a pipe: a line for each client whose numbers changed. */
  function append(): void {
    terminal.write([...[...changed.values()].slice(-SHOWN).map(toText), more(changed.size - SHOWN)].join(''));
  }

  function note(text: string): void {
    if (terminal.isTTY === true) rewrite(`${text}\n`);
    else terminal.write(`${text}\n`);
  }
}

function toText({ label, allowed, denied, remaining, source }: Row): string {
  const counts = `allowed ${String(allowed).padEnd(5)} denied ${String(denied).padEnd(5)}`;
  return `  ${label} ${counts} remaining ${remaining ?? '-'}${source === 'store' ? '' : ` ${source}`}\n`;
}

function more(clients: number): string {
  return clients > 0 ? `  and ${clients} more\n` : '';
}

function overlong(columns = 80): RegExp {
  return new RegExp(`^(.{${columns - 1}}).+$`, 'gm');
}

/** Short, and different for each client: `127.0.0.1 curl a1b2`, `api key 3f9a`, `user ada`. */
function clientLabel({ identity: { kind, token } }: Decision, ctx: RequestContext): string {
  if (kind === 'user') return `user ${token.slice(2, 22)}`;
  if (kind === 'apiKey') return `api key ${token.slice(2, 6)}`;
  const [address = '', agent = ''] = token.split(',');
  // A client chooses its user agent: nothing of it may reach the terminal but letters.
  const program = /^[a-z]{1,12}/i.exec(ctx.header('user-agent') ?? '')?.[0] ?? 'agent';
  return `${address} ${program} ${agent.slice(0, 4)}`;
}
