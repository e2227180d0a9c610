// What examples for Express may use without declaring it.
import type { Limiter } from '@tollgate/express';
import type { Application, RequestHandler } from 'express';

declare global {
  const app: Application;
  const limiter: Limiter;
  const login: RequestHandler;
  const search: RequestHandler;
  const checkCode: RequestHandler;
  // What belongs to the application of who reads.
  const sessions: { find(cookie: string | undefined): Promise<{ readonly userId: string } | undefined> };
  const plans: { of(userId: string | undefined): Promise<'free' | 'pro' | 'enterprise'> };
  const model: { answer(question: unknown): Promise<{ readonly text: string; readonly totalTokens: number }> };
  const metrics: { increment(name: string): void };

  namespace Express {
    interface Request {
      /** Set by the application's authentication. */
      user?: { readonly id: string; readonly isStaff: boolean; readonly tenant: string };
    }
  }
}
