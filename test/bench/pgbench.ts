/**
 * (g) pgbench with the two statements of (b): the throughput of the database for a client written
 * in C.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, readdirSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { delimiter, join } from 'node:path'
import pg from 'pg'
import type { Contestant, Surroundings } from './contestants.ts'
import { charge, newId, readPayment } from './handwritten/payment.ts'
import { accept, acceptValues, settle, settleValues } from './handwritten/statements.ts'
import { type Load, summarise } from './latencies.ts'
import { paymentRequest } from './payment.ts'

/** The folder of programs outside the PATH on Debian and its derivatives. */
const debian = '/usr/lib/postgresql'

/** The newest pgbench on this machine, or undefined. */
export function findPgbench(): string | undefined {
  const versions = filesIn(debian).sort((a, b) => Number(b) - Number(a))
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ]
  return folders.map((folder) => join(folder, 'pgbench')).find(isExecutable)
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export async function pgbench(
  { server }: Surroundings,
  program: string,
  schema: URL,
): Promise<Contestant> {
  const url = await server.makeDatabase('pgbench')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(await readFile(schema, 'utf8'))
  await client.end()
  const folder = join(server.folder, 'pgbench')
  await mkdir(folder)
  const script = join(folder, 'payment.sql')
  await writeFile(script, await scriptOf())
  let running: ChildProcess | undefined
  return {
    letter: 'g',
    title: 'pgbench, statements of (b)',
    // Every round has its own process in C.
    pid: Number.NaN,
    async run(concurrent, durationMs) {
      // pgbench includes the time to connect, which belongs to no payment.
      const seconds = 1 + Math.max(1, Math.round(durationMs / 1000))
      const parameters = [
        ['--no-vacuum', '--protocol=prepared', `--file=${script}`],
        [`--client=${concurrent}`, `--jobs=${Math.min(concurrent, cpus().length)}`],
        // Ids begin with the time, so that a later round continues after the earlier one.
        [`--time=${seconds}`, `--define=no=${Date.now() * 1000}`],
        ['--log', `--log-prefix=${join(folder, 'log')}`],
      ].flat()
      running = spawn(program, parameters, {
        env: environmentOf(url),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let words = ''
      for (const stream of [running.stdout!, running.stderr!]) {
        stream.setEncoding('utf8').on('data', (part: string) => {
          words = (words + part).slice(-4000)
        })
      }
      const [code] = await once(running, 'close')
      running = undefined
      const failed = Number(/number of failed transactions: (\d+)/.exec(words)?.[1] ?? 0)
      if (code !== 0 || failed > 0) throw new Error(`pgbench ended with ${code}: ${words.trim()}`)
      return loadOf(folder, words)
    },
    async stop() {
      if (running === undefined) return
      const ended = once(running, 'close')
      running.kill('SIGTERM')
      await ended
    },
  }
}

/**
 * Reads and deletes the log of a run: one line for each payment, with microseconds in its third
 * field.
 */
async function loadOf(folder: string, words: string): Promise<Load> {
  const latencies: number[] = []
  for (const name of await readdir(folder)) {
    if (!name.startsWith('log')) continue
    const text = await readFile(join(folder, name), 'utf8')
    for (const line of text.split('\n'))
      if (line !== '') latencies.push(Number(line.split(' ')[2]) / 1000)
    await rm(join(folder, name))
  }
  if (latencies.length === 0) throw new Error(`pgbench made no payment: ${words.trim()}`)
  const perSecond = Number(/tps = ([0-9.]+)/.exec(words)?.[1])
  return summarise(latencies, latencies.length / perSecond)
}

/** Passwords do not belong on a command line. */
function environmentOf(text: string): NodeJS.ProcessEnv {
  const { hostname, port, username, password, pathname } = new URL(text)
  return {
    ...process.env,
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
  }
}

/** Both statements, with one payment's values for all parameters except the ids. */
async function scriptOf(): Promise<string> {
  const { card, ...rest } = paymentRequest('0'.repeat(32), 0)
  const form: Record<string, string> = { ...rest }
  for (const [name, value] of Object.entries(card)) form[`card.${name}`] = value
  const payment = readPayment(form)
  if (typeof payment === 'string')
    throw new Error(`the benchmark's own payment has a wrong ${payment}`)
  const id =
    "(lpad(to_hex(:no::bigint), 16, '0') || lpad(to_hex(:client_id::bigint), 16, '0'))::uuid"
  const eventId =
    "(lpad(to_hex(:no::bigint), 16, '0') || lpad(to_hex(:client_id::bigint), 16, 'e'))::uuid"
  const acceptTexts = acceptValues(payment).map(literal)
  acceptTexts[0] = id
  acceptTexts[10] = `${id}::text`
  const settleTexts = settleValues(payment, await charge(payment), newId()).map(literal)
  settleTexts[0] = `${id}`
  settleTexts[1] = eventId
  const settleByKey = settle.replace('where key = $1', `where key = ${id}::text`)
  return [
    String.raw`\set no :no + 1`,
    `${filled(accept, acceptTexts)};`,
    `${filled(settleByKey, settleTexts)};`,
  ]
    .join('\n')
    .replaceAll(/^\s*\n/gm, '')
}

function literal(value: unknown): string {
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'::bytea`
  return typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`
}

const filled = (text: string, values: readonly string[]) =>
  text.replaceAll(/\$(\d+)/g, (_, index: string) => values[Number(index) - 1] ?? '')
