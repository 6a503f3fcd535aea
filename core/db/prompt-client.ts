import { limits } from '@tollgate/schemas'
import postgres from 'pg'
import type * as pg from './pg-types.ts'

/** Waiting for a connection that others use has its place in a queue; opening one is given up sooner. */
export class PromptClient extends postgres.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: limits.connectMs })
  }
}
