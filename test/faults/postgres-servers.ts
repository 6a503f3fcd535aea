/** Questions to the PostgreSQL servers of a fault run, from outside its hosts. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

/** Asks on a connection of its own. */
export async function ask<Row>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows as Row[]
  } finally {
    await client.end()
  }
}

/** @param what The awaited state, as in "waited in vain until …". An error counts as no. */
export async function eventually(
  what: string,
  isSo: () => Promise<boolean>,
  withinMs = 120_000,
): Promise<void> {
  const until = performance.now() + withinMs
  while (performance.now() < until) {
    if (await isSo().catch(() => false)) return
    await pause(100)
  }
  throw new Error(`waited in vain until ${what}`)
}
