/** The pool and the tables of the hand-written contestants. */
import { readFile } from 'node:fs/promises'
import pg from 'pg'

/** A pool on an empty database with its tables. */
export async function openPool(): Promise<pg.Pool> {
  const { BENCH_DATABASE: connectionString, BENCH_POOL: max = '10' } = process.env
  const pool = new pg.Pool({ connectionString, max: Number(max) })
  // A connection that breaks while idle concerns no payment.
  pool.on('error', () => {})
  await pool.query(await readFile(new URL('schema.sql', import.meta.url), 'utf8'))
  return pool
}
