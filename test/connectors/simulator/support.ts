/** Merchants of the simulated acquirer over both transports, without a gateway. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import {
  type Connector,
  type Context,
  type Inbound,
  type Instrument,
  type Json,
  type Kind,
  type Operation,
  type Outcome,
  type Records,
  Sensitive,
} from '@tollgate/plugin-kit'
import { simulatorHttp } from '../../../connectors/simulator/http-connector.ts'
import { createSimulator } from '../../../connectors/simulator/in-process.ts'
import { openLedger, totals } from '../../../connectors/simulator/ledger.ts'
import { type SimulatorOptions, startSimulator } from '../../../connectors/simulator/server.ts'
import { createOutgoing } from '../../../core/net/http.ts'

let counter = 0
/** A unique key in this test process. */
export function newKey(): string {
  counter += 1
  return counter.toString(16).padStart(32, '0')
}

export const euros = (minor: number | bigint) => ({ minor: BigInt(minor), currency: 'EUR' })

export type CardOptions = { holder?: string; cvv?: string; expiryYear?: string }

export function card(number: string, { holder, cvv, expiryYear }: CardOptions = {}): Instrument {
  return {
    kind: 'card',
    brand: 'VISA',
    number: new Sensitive(number),
    bin: number.slice(0, 6),
    last4: number.slice(-4),
    expiryMonth: '12',
    expiryYear: expiryYear ?? '2034',
    ...(holder === undefined ? {} : { holder }),
    ...(cvv === undefined ? {} : { cvv: new Sensitive(cvv) }),
  }
}

export const bankAccount = (iban: string): Instrument => ({
  kind: 'bankAccount',
  brand: 'DIRECTDEBIT_SEPA',
  holder: 'Jane Jones',
  iban: new Sensitive(iban),
  last4: iban.slice(-4),
})

export const plainCard = '4200000000000000'

/** A payment of 92.00 EUR by an approved card by default. */
export const payment = (kind: Kind, more: Partial<Operation> = {}): Operation => ({
  kind,
  paymentId: newKey(),
  key: newKey(),
  amount: euros(9200),
  instrument: card(plainCard),
  request: {},
  shortId: '0000.0000.0000',
  ...more,
})

/** A follow-up as the engine passes it. */
export function followUp(
  kind: Kind,
  on: Operation,
  minor: number | bigint = on.amount.minor,
  more: Partial<Operation> = {},
): Operation {
  const { paymentId, key, amount } = on
  const original = { paymentId, kind: on.kind, key, amount, refs: { reference: `sim-${key}` } }
  const { instrument: _none, ...plain } = payment(kind, { amount: euros(minor), original })
  return { ...plain, ...more }
}

/** Records as the engine keeps them: JSON, compared by value. */
export function openRecords(): Records & { readonly stored: Map<string, string> } {
  const stored = new Map<string, string>()
  return {
    stored,
    async get(key) {
      const text = stored.get(key)
      return text === undefined ? undefined : (JSON.parse(text) as Json)
    },
    async swap(key, expected, value) {
      const before = expected === undefined ? undefined : JSON.stringify(expected)
      if (stored.get(key) !== before) return false
      stored.set(key, JSON.stringify(value))
      return true
    },
  }
}

/** A merchant's business clock that stands still until a test moves it. */
export function businessClock(startMs = Date.UTC(2030, 0, 1)) {
  const clock = { ms: startMs, now: () => new Date(clock.ms) }
  return clock
}

/** A merchant at the acquirer: the engine's calls and the acquirer's own books. */
export type Merchant = {
  readonly connector: Connector
  readonly clock: ReturnType<typeof businessClock>
  readonly records: ReturnType<typeof openRecords>
  /** The number of calls of `sending()`. */
  readonly sendings: () => number
  context(more?: Partial<Context>): Context
  run(operation: Operation, more?: Partial<Context>): Promise<Outcome>
  /** The totals of the payer's accounts in EUR. */
  totals(): { held: bigint; charged: bigint }
}

type Parts = Pick<Merchant, 'connector' | 'totals'> & Partial<Pick<Merchant, 'clock' | 'records'>>

function merchantOf(
  test: TestContext,
  { connector, totals, ...parts }: Parts,
  settings: Partial<Context> = {},
): Merchant {
  const clock = parts.clock ?? businessClock()
  const records = parts.records ?? openRecords()
  let sendings = 0
  const outgoing = createOutgoing({ name: 'test', allowLoopback: true })
  test.after(() => outgoing.close())
  const context = (more: Partial<Context> = {}): Context => {
    const signal = more.signal ?? new AbortController().signal
    const deadlineMs = performance.now() + 60_000
    const sendBy = { monotonicMs: deadlineMs, wallMs: Date.now() + 60_000 }
    return {
      http: outgoing.forCall({ deadlineMs, sendBy, signal }).http,
      sending() {
        sendings += 1
      },
      token: () => Promise.reject(new Error('the simulator needs no token')),
      dropToken() {},
      sequence: () => Promise.reject(new Error('the simulator needs no sequence')),
      records,
      config: {},
      account: {},
      mode: 'INTERNAL',
      clock,
      signal,
      log: { info() {}, warn() {} },
      transfer: () => Promise.reject(new Error('the simulator needs no transfers')),
      ...settings,
      ...more,
    }
  }
  return {
    connector,
    clock,
    records,
    sendings: () => sendings,
    context,
    run: (operation, more) => {
      if (operation.kind === undefined) throw new Error('an operation has a kind')
      return connector[operation.kind]!(operation, context(more))
    },
    totals,
  }
}

/** The acquirer inside this process. The same records make the same acquirer after a restart. */
export function inProcess(
  test: TestContext,
  parts: Partial<Pick<Merchant, 'clock' | 'records'>> = {},
): Merchant & { readonly simulator: ReturnType<typeof createSimulator> } {
  const ledger = openLedger()
  const simulator = createSimulator(ledger)
  const sums = () => totals(ledger).EUR ?? { held: 0n, charged: 0n }
  return { ...merchantOf(test, { connector: simulator, totals: sums, ...parts }), simulator }
}

export const account = { merchantId: 'shop', secret: 'simulator-secret' }

/** A merchant of an acquirer that listens at `url`. */
export function merchantAt(
  test: TestContext,
  url: string,
  sums: Merchant['totals'] = () => ({ held: 0n, charged: 0n }),
): Merchant {
  const settings = { config: { url }, account, mode: 'EXTERNAL' } as const
  return merchantOf(test, { connector: simulatorHttp, totals: sums }, settings)
}

/** An acquirer's clock that stands still until a test moves it, and then continues waiting work. */
export function acquirerTime(startMs = Date.UTC(2030, 0, 1)) {
  let ms = startMs
  let waiting: { readonly until: number; readonly go: () => void }[] = []
  return {
    now: () => ms,
    wait: (length: number, signal: AbortSignal) =>
      new Promise<void>((go, stop) => {
        waiting.push({ until: ms + length, go })
        signal.addEventListener('abort', () => stop(signal.reason), { once: true })
      }),
    advance(length: number) {
      ms += length
      const due = waiting.filter(({ until }) => until <= ms)
      waiting = waiting.filter(({ until }) => until > ms)
      for (const { go } of due) go()
    },
  }
}

/** The acquirer behind HTTP in this process. */
export async function overHttp(test: TestContext, options: SimulatorOptions = {}) {
  const server = await startSimulator(options)
  test.after(() => server.close())
  const sums = () => {
    const { held = '0', charged = '0' } = server.ledger().totals[account.merchantId]?.EUR ?? {}
    return { held: BigInt(held), charged: BigInt(charged) }
  }
  return { ...merchantAt(test, server.url, sums), server }
}

/** Both transports, for rules that hold on each. */
export const transports: readonly (readonly [
  name: string,
  open: (test: TestContext) => Merchant | Promise<Merchant>,
])[] = [
  ['in process', (test) => inProcess(test)],
  ['over HTTP', (test) => overHttp(test)],
]

/** A gateway's address for events, which keeps them in order. */
export async function eventReceiver(test: TestContext) {
  const messages: Inbound[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = request.headers as Record<string, string>
    messages.push({ body: Buffer.concat(chunks), headers, query: {} })
    response.end()
    server.emit('message')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
  return {
    url,
    messages,
    /** Resolves when that many messages arrived. */
    async received(count: number): Promise<readonly Inbound[]> {
      while (messages.length < count) await once(server, 'message')
      return messages
    },
  }
}

/** All elements of a stream. */
export async function collected<T>(from: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of from) all.push(one)
  return all
}
