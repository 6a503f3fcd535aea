/** A running engine on its own database. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { GatewayEvent, Json, Plugin } from '@tollgate/plugin-kit'
import pg from 'pg'
import { createSimulatorPlugin } from '../../connectors/simulator/index.ts'
import {
  type Caller,
  createGateway,
  type Gateway,
  type GatewayOptions,
  localKeys,
  migrateDatabase,
  newId,
  type PaymentView,
  type Reply,
} from '../../core/index.ts'
import { createDatabase, type Template, type TestDatabase } from './database.ts'
import { cardOf } from './payment-request.ts'
import { lookOften } from './quick-looks.ts'

/** The key-encryption key of every database cloned from the template. */
export const testKey = `test:${'5e6f'.repeat(16)}`

export type LogLine = {
  readonly level: 'info' | 'warn'
  readonly fields: Readonly<Record<string, Json>>
  readonly message: string
}

export type TestGateway = {
  readonly gateway: Gateway
  readonly database: TestDatabase
  readonly psp: string
  readonly division: string
  readonly merchant: string
  readonly channel: string
  /** All log lines of this database's engines. */
  readonly logs: readonly LogLine[]
  /** Runs SQL on a connection outside the engines. Ids are 32 hex characters, int8 is bigint. */
  sql<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** Another process on the same database: an engine with its own caches, pools and connectors. */
  another(more?: Partial<GatewayOptions>): Promise<Gateway>
  /** The first event of this kind for a resource that any engine here commits or has committed. */
  event(resource: string, type: string): Promise<GatewayEvent>
  /** Sends a form body as the HTTP surface does, and returns its answer. */
  send(
    fields: Readonly<Record<string, string>>,
    more?: { id?: string; idempotencyKey?: string; caller?: Caller; on?: Gateway },
  ): Promise<Reply & { readonly body: PaymentView }>
  /** A first payment by the embedder's method: 92.00 EUR by VISA by default. */
  pay(
    more?: Readonly<Record<string, unknown>>,
    options?: { on?: Gateway; key?: string },
  ): Promise<PaymentView>
  /** The gateway's operator, who tries again while another process works on the payment, as the refusal asks. */
  readonly operator: Pick<Gateway['operator'], 'enquire' | 'settle'>
  close(): Promise<void>
}

/**
 * Each connection plans the statements that it runs, which costs PostgreSQL more than running them. Tests of
 * many requests at once take the engine's own numbers.
 */
const fewConnections = { group: 1, single: 2, read: 1, jobs: 1 }

/** A simulator with books of its own. */
export const freshSimulator = (): Plugin => createSimulatorPlugin()

/** A simulator whose issuer stays away, so that another authenticator serves testMode=INTERNAL. */
export function simulatorWithoutIssuer(): Plugin {
  const { authenticators: _none, ...plugin } = createSimulatorPlugin()
  return plugin
}

const core = join(import.meta.dirname, '../../core')

/** A migrated database with the job queue's tables; its name changes with the migrations. */
const migrated: Template = {
  name: `gateway ${contentHash()}`,
  async make(url) {
    const gateway = await createGateway({
      database: { url },
      plugins: [freshSimulator()],
      environment: 'test',
      keys: localKeys(testKey),
      role: 'api',
    })
    await gateway.close()
  },
}

/** The tables alone: no process has decided yet which pod the database is, and it has no keys. */
const undecided: Template = {
  name: `tables ${contentHash()}`,
  make: async (url) => void (await migrateDatabase({ url })),
}

function contentHash(): string {
  const hash = createHash('sha256').update(testKey)
  for (const file of globSync('db/migrations/*.sql', { cwd: core }).sort()) {
    hash.update(readFileSync(join(core, file)))
  }
  return hash.update(readFileSync(join(core, 'package.json'))).digest('hex')
}

export type TestGatewayOptions = Partial<Omit<GatewayOptions, 'database'>> & {
  /** Schema of the engine's tables, with `cloned: false`. */
  readonly schema?: string
  /** False: an empty database, which the engine migrates itself. */
  readonly cloned?: boolean
  /** Instead of few connections; `{}` for the engine's own numbers. */
  readonly pool?: NonNullable<GatewayOptions['database']['pool']>
  /** Replaces the simulator with books of its own. */
  readonly simulator?: Plugin
  /** The address that the engine uses: a proxy in front of the database. */
  readonly through?: (url: string) => Promise<string>
}

/**
 * Starts an engine with the simulator, on a new database with one PSP, division, merchant and
 * channel.
 */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  lookOften()
  const { cloned, schema, through, simulator, pool = fewConnections, ...given } = options
  const template = options.pod === undefined ? migrated : undecided
  const database = await createDatabase(cloned === false ? undefined : template)
  const url = through === undefined ? database.url : await through(database.url)
  const logs: LogLine[] = []
  const events = new Events()
  const gateways: Gateway[] = []
  const open = async (more: Partial<GatewayOptions>) => {
    const gateway = await createGateway({
      environment: 'test',
      // Receivers of tests are on this machine.
      allowLoopbackForMerchants: (more.environment ?? given.environment) !== 'live',
      keys: localKeys(testKey),
      log: {
        info: (fields, message) => void logs.push({ level: 'info', fields, message }),
        warn: (fields, message) => void logs.push({ level: 'warn', fields, message }),
      },
      shutdownGraceMs: 2_000,
      ...given,
      ...more,
      plugins: [simulator ?? freshSimulator(), ...(more.plugins ?? given.plugins ?? [])],
      database: {
        url,
        pool,
        ...(schema === undefined ? {} : { schema }),
        ...more.database,
      },
    })
    gateway.on((event) => events.add(event))
    gateways.push(gateway)
    return gateway
  }
  const client = new pg.Client({ connectionString: database.url, types: wireTypes })
  let last: Promise<unknown> = Promise.resolve()
  try {
    const gateway = await open({})
    await client.connect()
    const { entities } = gateway
    const psp = await entities.create({ kind: 'psp', name: 'Demo' })
    const division = await entities.create({ kind: 'division', name: 'Demo', parentId: psp })
    const merchant = await entities.create({ kind: 'merchant', name: 'Demo', parentId: division })
    const channel = await entities.create({ kind: 'channel', name: 'Demo', parentId: merchant })
    return {
      gateway,
      database,
      psp,
      division,
      merchant,
      channel,
      logs,
      sql: async <Row>(text: string, values: readonly unknown[] = []) => {
        const mine = last.then(() => client.query(text, [...values]))
        last = mine.catch(() => undefined)
        return (await mine).rows as Row[]
      },
      another: (more = {}) => open({ migrate: false, ...more }),
      event: (resource, type) => events.first(resource, type),
      send: (fields, more = {}) => send(more.on ?? gateway, fields, more),
      pay: (more = {}, { on = gateway, key } = {}) =>
        on.payments.create(
          { ...card('4200000000000000'), entityId: channel, ...more } as never,
          key === undefined ? {} : { idempotencyKey: key },
        ),
      operator: {
        enquire: untilFree(gateway.operator.enquire),
        settle: untilFree(gateway.operator.settle),
      },
      async close() {
        await Promise.all(gateways.map((one) => one.close()))
        await client.end()
        await database.drop()
      },
    }
  } catch (error) {
    await Promise.all(gateways.map((one) => one.close()))
    await client.end()
    await database.drop()
    throw error
  }
}

async function send(
  gateway: Gateway,
  fields: Readonly<Record<string, string>>,
  more: { id?: string; idempotencyKey?: string; caller?: Caller },
): Promise<Reply & { readonly body: PaymentView }> {
  const reply = await gateway.call(
    more.id === undefined ? 'payments.create' : 'payments.followUp',
    more.caller ?? { id: 'test', entityId: null },
    {
      ...(more.id === undefined ? {} : { path: { id: more.id } }),
      body: Buffer.from(new URLSearchParams(fields).toString()),
      contentType: 'application/x-www-form-urlencoded; charset=UTF-8',
      idempotencyKey: more.idempotencyKey,
      requestId: newId(),
    },
  )
  return { ...reply, body: reply.body as PaymentView }
}

/** Fields of a 92.00 EUR debit by card; the brand is that of most test numbers. */
export const card = (number: string, more: Readonly<Record<string, string>> = {}) => ({
  amount: '92.00',
  currency: 'EUR',
  paymentType: 'DB',
  paymentBrand: 'VISA',
  card: cardOf(number, more),
})

/** The same fields as a form with flat names. */
export function flat(
  nested: Readonly<Record<string, unknown>>,
  prefix = '',
): Record<string, string> {
  return Object.assign(
    {},
    ...Object.entries(nested).map(([name, value]) =>
      typeof value === 'string'
        ? { [prefix + name]: value }
        : flat(value as Record<string, unknown>, `${prefix}${name}.`),
    ),
  )
}

/** A busy machine delays everything. */
const occursWithinMs = 60_000
const longestPauseMs = 50

/** Repeats the question until there is an answer, ever more slowly: questions take the time of the work. */
export async function until<T>(
  ask: () => Promise<T | undefined>,
  withinMs = occursWithinMs,
): Promise<T> {
  const since = performance.now()
  for (;;) {
    const found = await ask()
    if (found !== undefined) return found
    const waitedMs = performance.now() - since
    assert.ok(waitedMs < withinMs, 'the expected state did not occur')
    await pause(Math.min(longestPauseMs, 5 + waitedMs / 10))
  }
}

/** Asks again while another process works on the payment. */
const untilFree =
  <Given extends unknown[], Answer>(ask: (...given: Given) => Promise<Answer>) =>
  (...given: Given): Promise<Answer> =>
    until(() =>
      ask(...given).catch((error: Error) => {
        if (/another (operator or )?process (works on|decided) this payment/.test(error.message))
          return undefined
        throw error
      }),
    )

/** Committed events and the callers that wait for them; earlier events are found too. */
class Events {
  readonly #seen: GatewayEvent[] = []
  readonly #waiting = new Set<(event: GatewayEvent) => void>()

  add(event: GatewayEvent): void {
    this.#seen.push(event)
    for (const waiter of this.#waiting) waiter(event)
  }

  first(resource: string, type: string): Promise<GatewayEvent> {
    const fits = (event: GatewayEvent) => event.resource === resource && event.type === type
    const seen = this.#seen.find(fits)
    if (seen !== undefined) return Promise.resolve(seen)
    return new Promise((resolve, reject) => {
      const waiter = (event: GatewayEvent) => {
        if (fits(event)) stop(() => resolve(event))
      }
      const timer = setTimeout(() => {
        const types = this.#seen.filter((one) => one.resource === resource).map((one) => one.type)
        stop(() =>
          reject(new Error(`no ${type} in time; there were: ${types.join(', ') || 'none'}`)),
        )
      }, occursWithinMs)
      const stop = (then: () => void) => {
        clearTimeout(timer)
        this.#waiting.delete(waiter)
        then()
      }
      this.#waiting.add(waiter)
    })
  }
}

/** Ids as on the wire, amounts as in the engine. */
const wireTypes = {
  getTypeParser(oid: number, format?: string) {
    if (oid === 2950) return (value: string) => value.replaceAll('-', '')
    if (oid === 20) return (value: string) => BigInt(value)
    return pg.types.getTypeParser(oid as never, format as never)
  },
} as pg.CustomTypesConfig
