// What examples for NestJS may use without declaring it.
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import type { Limiter } from '@tollgate/nestjs';

declare global {
  const limiter: Limiter;

  // What belongs to the application of who reads.
  class Settings {
    readonly redisUrl: string;
  }
  const SettingsModule: Type;
  class AuthGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean;
  }
  const AuthModule: Type;
}
