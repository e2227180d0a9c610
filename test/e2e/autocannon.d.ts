// The part of autocannon, which has no types, that these tests use.
declare module 'autocannon' {
  interface Options {
    readonly url: string;
    readonly connections: number;
    readonly amount: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly setupClient?: (client: Client) => void;
  }
  interface Client {
    on(event: 'headers', listener: (head: { statusCode: number; headers: string[] }) => void): void;
  }
  interface Result {
    readonly errors: number;
    readonly timeouts: number;
    readonly statusCodeStats: Readonly<Record<string, { count: number }>>;
  }
  export default function autocannon(options: Options): Promise<Result>;
}
