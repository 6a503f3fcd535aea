import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { testCluster } from './cluster.ts'

/** The initial content of a kind of database. Made once for each cluster, then cloned. */
export interface Template {
  /** Identifies the content: other content needs another name (add a hash of the migrations). */
  readonly name: string
  /** Fills an empty database. Must close its connections. */
  make(url: string): Promise<void>
}

export interface TestDatabase {
  readonly name: string
  readonly url: string
  /** Removes the database. Fails for connections that the test left open, and names them. */
  drop(): Promise<void>
}

const connectionsGoneWithinMs = 500

/** A database for one test file: a clone of the template, or empty without one. */
export async function createDatabase(
  template?: Template,
  clusterUrl?: string,
): Promise<TestDatabase> {
  const url = clusterUrl ?? (await testCluster()).url
  const name = `test_${randomBytes(8).toString('hex')}`
  await administer(url, async (client) => {
    const source =
      template === undefined ? 'template0' : await ensureTemplate(client, url, template)
    // Copying files is faster than writing them through the log.
    await client.query(`create database ${name} template ${source} strategy file_copy`)
  })
  return {
    name,
    url: inDatabase(url, name),
    drop: () => administer(url, (client) => dropDatabase(client, name)),
  }
}

/** The templates that this process has found or made, by cluster. */
const ready = new Set<string>()

/** Processes that need the same template wait for its maker. */
async function ensureTemplate(client: pg.Client, url: string, template: Template): Promise<string> {
  const name = `template_${createHash('sha256').update(template.name).digest('hex').slice(0, 16)}`
  if (ready.has(`${url} ${name}`)) return name
  await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [name])
  // The mark is set last: a database without it was left half made by a killed process.
  const { rows } = await client.query<{ made: boolean }>(
    'select datistemplate as made from pg_database where datname = $1',
    [name],
  )
  if (rows[0]?.made !== true) {
    await client.query(`drop database if exists ${name} with (force)`)
    await client.query(`create database ${name} template template0`)
    await template.make(inDatabase(url, name))
    const left = await openConnections(client, name)
    assert.deepEqual(left, [], `template "${template.name}" left connections open`)
    await client.query(`alter database ${name} is_template true`)
  }
  await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name])
  ready.add(`${url} ${name}`)
  return name
}

async function dropDatabase(client: pg.Client, name: string): Promise<void> {
  const left = await openConnections(client, name)
  await client.query(`drop database if exists ${name} with (force)`)
  assert.deepEqual(left, [], `the test left connections to its database open`)
}

/** Remaining connections, after the time that an ended session needs. */
async function openConnections(client: pg.Client, name: string): Promise<string[]> {
  const since = performance.now()
  for (;;) {
    const { rows } = await client.query<{ who: string }>(
      `select concat_ws(' | ', nullif(application_name, ''), state, left(query, 120)) as who
         from pg_stat_activity
        where datname = $1 and backend_type = 'client backend'`,
      [name],
    )
    if (rows.length === 0 || performance.now() - since > connectionsGoneWithinMs) {
      return rows.map((row) => row.who)
    }
    await pause(10)
  }
}

function inDatabase(url: string, name: string): string {
  const target = new URL(url)
  target.pathname = `/${name}`
  return target.href
}

async function administer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: inDatabase(url, 'postgres') })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
