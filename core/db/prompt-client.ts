import { limits } from '@tollgate/schemas'
import postgres from 'pg'
import type * as pg from './pg-types.ts'

/** Waiting for a connection that others use has its place in a queue; opening one is given up sooner. */
export class PromptClient extends postgres.Client {
  constructor(config?: pg.ClientConfig) {
    // A pool hides the password of its options from copies.
    const password = config?.password === undefined ? {} : { password: config.password }
    super({ ...config, ...password, connectionTimeoutMillis: limits.connectMs })
  }
}
