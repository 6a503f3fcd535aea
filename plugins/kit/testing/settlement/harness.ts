import assert from 'node:assert/strict'
import type { Connector, Context } from '../../connector.ts'
import type { Settlement, SettlementItem, SettlementRecord } from '../../settlement.ts'
import { type Environment, openEnvironment, type StageOptions } from '../environment.ts'
import { type Reading, readingOf } from './judge.ts'
import type { SamplePayment, SettlementSandbox, SettlementServer } from './sandbox.ts'

/** A file that `fetch` named, with its bytes. */
export type Fetched = {
  readonly name: string
  readonly cursor: string
  readonly bytes: Buffer
}

/** The institute of one case, with its server. */
export type Institute = Environment<Context> & {
  put(): Promise<void>
  /** Fetches all files behind a cursor; throws as the connector does. */
  fetch(cursor?: string): Promise<readonly Fetched[]>
  /** The number of requests of a fetch of all files. */
  requests(): Promise<number>
}

/** One case: the files of the sandbox, and the connector's reading of them. */
export type SettlementStage = {
  readonly connector: Connector
  readonly settlement: Settlement
  readonly sandbox: SettlementSandbox
  /** @param size of the chunks; the whole file in one by default */
  read(bytes: Uint8Array, size?: number): Promise<Reading>
  /** The records of a file with these payments; fails unless the file is taken. */
  recordsOf(...payments: readonly SamplePayment[]): Promise<readonly SettlementRecord[]>
  open(): Promise<Institute>
  close(): Promise<void>
}

export function openSettlementStage(
  connector: Connector,
  settlement: Settlement,
  sandbox: SettlementSandbox,
  options: StageOptions,
): SettlementStage {
  const opened: Institute[] = []
  const stage: SettlementStage = {
    connector,
    settlement,
    sandbox,
    async read(bytes, size = Math.max(bytes.length, 1)) {
      const items: SettlementItem[] = []
      try {
        for await (const item of settlement.parse(chunksOf(bytes, size))) items.push(item)
      } catch (thrown) {
        return readingOf(items, thrown)
      }
      return readingOf(items)
    },
    async recordsOf(...payments) {
      const reading = await stage.read(sandbox.write(payments))
      if (reading.is === 'refused') assert.fail(`a complete file is refused: ${reading.why}`)
      const records = reading.items.filter((item) => item.is === 'record')
      assert.equal(records.length, payments.length, 'one record for each payment')
      return records
    },
    async open() {
      assert.ok(sandbox.open, 'a connector with fetch needs sandbox.open')
      const institute = await openInstitute(connector, settlement, sandbox.open, options)
      opened.push(institute)
      return institute
    },
    async close() {
      for (const institute of opened) await institute.close()
    },
  }
  return stage
}

async function openInstitute(
  connector: Connector,
  settlement: Settlement,
  open: NonNullable<SettlementSandbox['open']>,
  options: StageOptions,
): Promise<Institute> {
  const { server, environment } = await openEnvironment<SettlementServer, Context>(
    connector.supports.modes,
    open,
    options,
    (context) => context,
  )
  const { said, clock, config, account, call, forgetTokens, close } = environment
  return {
    said,
    clock,
    config,
    account,
    call,
    forgetTokens,
    close,
    get front() {
      return environment.front
    },
    put: () => server.put(),
    requests: async () =>
      (await call((context) => filesOf(settlement, undefined, context))).attempts.length,
    async fetch(cursor) {
      const { returned, thrown, moved } = await call((context) =>
        filesOf(settlement, cursor, context),
      )
      assert.equal(moved, false, 'a fetch moves no money')
      if (returned === undefined) throw thrown
      return returned
    },
  }
}

async function filesOf(
  { fetch }: Settlement,
  cursor: string | undefined,
  context: Context,
): Promise<readonly Fetched[]> {
  assert.ok(fetch, 'the connector has no fetch')
  const files: Fetched[] = []
  for await (const { name, cursor: next, open } of fetch(cursor, context)) {
    const chunks: Uint8Array[] = []
    for await (const chunk of await open()) chunks.push(chunk)
    files.push({ name, cursor: next, bytes: Buffer.concat(chunks) })
  }
  return files
}

/** The bytes in chunks of a size, with an empty one first. */
export async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(0)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** A sale of 92.00 EUR. */
export const sample = (more: Partial<SamplePayment> = {}): SamplePayment => ({
  amount: { minor: 9200n, currency: 'EUR' },
  cashflow: 'POS',
  fee: 139n,
  reference: 'a1b2c3d4e5f60718293a4b5c6d7e8f90',
  date: '2026-03-31',
  requestedAt: '2026-03-30 14:05:00',
  cardNumber: '4200000000000000',
  ...more,
})

/** Sales and refunds that differ from each other. */
export const samples: readonly SamplePayment[] = [
  sample(),
  sample({ amount: { minor: 100_005n, currency: 'EUR' }, reference: 'order-2', fee: 1410n }),
  sample({ amount: { minor: 150n, currency: 'EUR' }, cashflow: 'NEG', reference: '3', fee: 0n }),
]
