import 'reflect-metadata';
import * as core from '@tollgate/core';
import * as redis from '@tollgate/core/redis';
import * as expressAdapter from '@tollgate/express';
import * as fastifyAdapter from '@tollgate/fastify';
import * as honoAdapter from '@tollgate/hono';
import * as nestAdapter from '@tollgate/nestjs';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import check from './check.cjs';

await check.checkAll({ core, redis, expressAdapter, fastifyAdapter, nestAdapter, honoAdapter, express, fastify, Hono });
