/** An acquirer scripted by a test for each payment. */

import assert from 'node:assert/strict'
import {
  approved,
  type Claim,
  type Context,
  defineConnector,
  definePlugin,
  type Found,
  type Inbound,
  type Kind,
  type Operation,
  type Outcome,
  type Plugin,
  type Reversed,
  type Supports,
} from '@tollgate/plugin-kit'
import { GatewayError, type PaymentView } from '../../core/index.ts'
import { card, startGateway, type TestGateway, type TestGatewayOptions, until } from './gateway.ts'

type Told<Result> = (operation: Operation, context: Context) => Promise<Result> | Result

/**
 * The script for one payment's operations; by default an operation is approved, and an enquiry
 * finds nothing.
 */
export type Script = { readonly [Name in Kind]?: Told<Outcome> } & {
  readonly enquire?: Told<Found>
  readonly reverseByKey?: Told<Reversed>
}

export type AcquirerCall = {
  readonly what: Kind | 'enquire' | 'reverseByKey'
  readonly reference: string
  readonly operation: Operation
}

export type ScriptedAcquirer = {
  readonly plugin: Plugin
  /** Every call of a handler, in order. */
  readonly calls: readonly AcquirerCall[]
  /** The calls about one payment, by its merchantTransactionId. */
  of(reference: string): string[]
  /** Sets the script for operations with this merchantTransactionId. */
  tell(reference: string, script: Script): void
}

export const scriptedName = 'scripted'

/** Header that proves the acquirer's messages. */
export const proof = { 'x-proof': 'genuine' }

/** @param without `enquire` or `reverseByKey`, for an acquirer that has only the other. */
export function scriptedAcquirer(
  supports: Partial<Supports> = {},
  without?: 'enquire' | 'reverseByKey',
): ScriptedAcquirer {
  const scripts = new Map<string, Script>()
  const calls: AcquirerCall[] = []
  const told = (what: AcquirerCall['what'], operation: Operation): Script => {
    const reference = operation.merchantTransactionId ?? ''
    calls.push({ what, reference, operation })
    return scripts.get(reference) ?? {}
  }
  const handler = (kind: Kind) => async (operation: Operation, context: Context) => {
    const answer = told(kind, operation)[kind]
    if (answer !== undefined) return answer(operation, context)
    context.sending()
    return approvedAs(operation)
  }
  const connector = defineConnector({
    name: scriptedName,
    title: 'Scripted',
    contract: 1,
    supports: {
      brands: 'any',
      currencies: 'any',
      methods: ['card'],
      key: { by: 'none' },
      enquiryVisibleAfterMs: 0,
      ...supports,
    },
    authorize: handler('authorize'),
    debit: handler('debit'),
    credit: handler('credit'),
    capture: handler('capture'),
    refund: handler('refund'),
    reverse: handler('reverse'),
    increment: handler('increment'),
    resolve: {
      ...(without === 'enquire'
        ? {}
        : {
            enquire: async (operation: Operation, context: Context): Promise<Found> =>
              told('enquire', operation).enquire?.(operation, context) ?? { is: 'notFound' },
          }),
      ...(without === 'reverseByKey'
        ? {}
        : {
            reverseByKey: async (operation: Operation, context: Context): Promise<Reversed> =>
              told('reverseByKey', operation).reverseByKey?.(operation, context) ?? {
                is: 'nothing',
              },
          }),
    },
    inbound: {
      verify: ({ headers }) => headers['x-proof'] === 'genuine',
      parse: ({ body }) => [claimOf(JSON.parse(body.toString()))],
    },
  })
  return {
    plugin: definePlugin({ name: scriptedName, contract: 1, connectors: [connector] }),
    calls,
    of: (reference) =>
      calls.filter((call) => call.reference === reference).map((call) => call.what),
    tell: (reference, script) => void scripts.set(reference, script),
  }
}

/** This acquirer's approval. */
export const approvedAs = (operation: Operation) => approved({ reference: `at-${operation.key}` })

type Told1 = {
  eventId: string
  key: string
  minor: string
  currency: string
  outcome: unknown
  reference?: string
}

const claimOf = (event: Told1): Claim => ({
  eventId: event.eventId,
  key: event.key,
  outcome: event.outcome as Claim['outcome'],
  amount: { minor: BigInt(event.minor), currency: event.currency },
  ...(event.reference === undefined ? {} : { reference: event.reference }),
})

/** Brings a message that is not proven: what it says may be kept, and its acquirer has to send it again. */
export const sentAgain = (bringing: Promise<unknown>): Promise<void> =>
  assert.rejects(bringing, { status: 503, retryAfterSeconds: 10 })

/** A message of this acquirer about an operation; without `headers` it is unproven. */
export const message = (
  about: {
    eventId: string
    key: string
    minor?: string
    currency?: string
    outcome: unknown
    reference?: string
  },
  headers: Record<string, string> = proof,
): Inbound => ({
  body: Buffer.from(JSON.stringify({ minor: '9200', currency: 'EUR', ...about })),
  headers,
  query: {},
})

export type AcquirerRun = TestGateway & {
  readonly acquirer: ScriptedAcquirer
  /** Id of the channel's account at the acquirer. */
  readonly account: string
  /** A scripted debit of 92.00 EUR at this acquirer. */
  debit(reference: string, script?: Script, more?: Record<string, unknown>): Promise<PaymentView>
  /** The acquirer's key of a payment. */
  keyOf(id: string): Promise<string>
}

/** An engine with this acquirer beside the simulator, and an account at it. */
export async function startWithAcquirer(
  options: TestGatewayOptions & { readonly acquirer?: ScriptedAcquirer } = {},
): Promise<AcquirerRun> {
  const { acquirer = scriptedAcquirer(), ...more } = options
  const run = await startGateway({
    ...more,
    plugins: [acquirer.plugin, ...(more.plugins ?? [])],
  })
  const account = await run.gateway.entities.createAccount({
    channelId: run.channel,
    connector: scriptedName,
    mode: 'EXTERNAL',
    settings: {},
  })
  return {
    ...run,
    acquirer,
    account,
    debit: (reference, script = {}, fields = {}) => {
      acquirer.tell(reference, script)
      return run.gateway.payments.create({
        ...card('4200000000000000'),
        testMode: 'EXTERNAL',
        entityId: run.channel,
        merchantTransactionId: reference,
        ...fields,
      } as never)
    },
    keyOf: async (id) => {
      const [row] = await run.sql<{ attempt_key: string }>(
        'select attempt_key from tollgate.payment where id = $1',
        [id],
      )
      return row!.attempt_key
    },
  }
}

/** The outcome of a message, once it is processed. */
export const processed = (run: TestGateway, eventId: string): Promise<string> =>
  until(async () => {
    const [row] = await run.sql<{ outcome: string }>(
      'select outcome from tollgate.inbound_event where event_id = $1 and processed_at is not null',
      [eventId],
    )
    return row?.outcome
  })

/** Makes the engine enquire, which it does before every follow-up, even a refused one. */
export async function enquire(run: TestGateway, id: string): Promise<PaymentView> {
  await assert.rejects(run.gateway.payments.followUp(id, { paymentType: 'CR' }), GatewayError)
  return run.gateway.payments.get(id)
}
