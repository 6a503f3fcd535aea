/**
 * Shared parts of the tests of late words: acquirers of different abilities on one engine, and
 * their messages.
 */
import assert from 'node:assert/strict'
import {
  type Authenticator,
  accepted,
  type Connector,
  type Context,
  declined,
  definePlugin,
  type Operation,
  type Outcome,
  type Refs,
  unknown,
} from '@tollgate/plugin-kit'
import { type Gateway, GatewayError, type PaymentView } from '../../core/index.ts'
import {
  type AcquirerRun,
  message,
  processed,
  type Script,
  scriptedAcquirer,
  startWithAcquirer,
} from './acquirer.ts'
import type { TestGatewayOptions } from './gateway.ts'
import { type Line, lineTo } from './proxy.ts'

export const charged = '000.100.112'
export const undecided = '000.200.001'
export const notCharged = '900.100.400'
export const noMoney = '800.100.155'
export const eur = (amount: string) => ({ amount, currency: 'EUR' as const })

/** Answers of an acquirer that was reached. */
export const lose = (_: Operation, context: Context) => {
  context.sending()
  return unknown('the line went dead')
}
export const refuse = (_: Operation, context: Context) => {
  context.sending()
  return declined(noMoney)
}
export const accept = (operation: Operation, context: Context) => {
  context.sending()
  return accepted({ reference: `at-${operation.key}` }, 'event')
}

/** Of a decision that an operator must not make: told with this reason. */
export const refusedFor = (why: RegExp) => (error: unknown) => {
  assert.ok(error instanceof GatewayError, String(error))
  assert.equal(error.code, '700.400.570')
  assert.match(error.message, why)
  return true
}

/** Outcomes in the acquirer's events. */
export const approval = { is: 'approved', refs: { reference: 'by-event' } }
export const failure = { is: 'declined', reason: '800.100.203', refs: {} }

/** A call that answers on the test's command. */
export function heldCall<Answer = Outcome>() {
  const told = Promise.withResolvers<Answer>()
  const begun = Promise.withResolvers<Operation>()
  return {
    /** The operation, once the acquirer has it. */
    begun: begun.promise,
    answer: (answer: Answer) => told.resolve(answer),
    handler: (operation: Operation, context: Context) => {
      context.sending()
      begun.resolve(operation)
      return told.promise
    },
  }
}

export type Word = {
  readonly outcome: { readonly is: string; readonly [name: string]: unknown }
  readonly minor?: string
  readonly currency?: string
  readonly eventId?: string
  readonly reference?: string
}

export type Entry = {
  readonly id: string
  readonly kind: string
  readonly reference: string
  readonly detail: { readonly [name: string]: unknown; readonly refs?: Refs }
  readonly open: boolean
}

export type LateRun = AcquirerRun & {
  /** Fields that send a payment to an acquirer of other abilities. */
  readonly at: (name: string) => { readonly entityId: string }
  /** A follow-up with the acquirer's script for it. */
  follow(
    on: string,
    paymentType: string,
    reference: string,
    fields?: Readonly<Record<string, unknown>>,
    script?: Script,
  ): Promise<PaymentView>
  /** Delivers an event about a payment and returns its outcome. */
  tell(id: string, word: Word): Promise<string>
  /** The same without waiting. Returns the event's id. */
  bring(id: string, word: Word, to?: Gateway): Promise<string>
  /** The operators' entries about a payment, oldest first, including closed ones. */
  listed(id: string): Promise<Entry[]>
  /** The kinds of these entries: `kind` when open and `(kind)` when closed. */
  kinds(id: string): Promise<string[]>
  audited(id: string): Promise<string[]>
  code(id: string): Promise<string>
  stateOf(id: string): Promise<string>
  /** Makes an attempt look as if it had been sent an hour ago by a process that is gone. */
  age(id: string): Promise<void>
  /** Makes all waiting work about a payment due now. */
  dueNow(id: string): Promise<void>
  /** Postpones all waiting work about a payment by an hour, so that a busy machine does none of it here. */
  dueLater(id: string): Promise<void>
  timers(id: string): Promise<string[]>
}

/** Acquirers like the scripted one with other abilities; they share its scripts and its calls. */
export type Variants = Readonly<Record<string, (connector: Connector) => Connector>>

export const withoutKeyReversal = ({ resolve, ...connector }: Connector): Connector => ({
  ...connector,
  resolve: resolve.enquire === undefined ? {} : { enquire: resolve.enquire },
})

export const withoutEnquiries = ({
  resolve: { enquire: _, ...resolve },
  ...connector
}: Connector): Connector => ({ ...connector, resolve })

export const withoutAnyReversal = (connector: Connector): Connector => {
  const { reverse: _, ...rest } = withoutKeyReversal(connector)
  return rest
}

export async function startLate(
  variants: Variants = {},
  options: TestGatewayOptions & {
    readonly supports?: Partial<Connector['supports']>
    readonly authenticators?: readonly Authenticator[]
  } = {},
): Promise<LateRun> {
  const { supports = {}, authenticators = [], ...more } = options
  const base = scriptedAcquirer(supports)
  const [connector] = base.plugin.connectors!
  const others = Object.entries(variants).map(([name, change]) => ({
    ...change(connector!),
    name,
  }))
  const plugin = definePlugin({
    ...base.plugin,
    connectors: [connector!, ...others],
    authenticators,
  })
  const run = await startWithAcquirer({ ...more, acquirer: { ...base, plugin } })
  const channels = new Map<string, string>()
  for (const { name } of others) {
    const channelId = await run.gateway.entities.create({
      kind: 'channel',
      name,
      parentId: run.merchant,
    })
    await run.gateway.entities.createAccount({
      channelId,
      connector: name,
      mode: 'EXTERNAL',
      settings: {},
    })
    channels.set(name, channelId)
  }
  return { ...run, ...asked(run, channels) }
}

/** The same through a line to the database that the test may cut. */
export async function startLateThroughLine(
  variants: Variants = {},
  options: Parameters<typeof startLate>[1] = {},
): Promise<{ readonly run: LateRun; readonly line: Line }> {
  let line: Line | undefined
  const through = async (url: string) => {
    line = await lineTo(url)
    return line.url
  }
  const run = await startLate(variants, { ...options, through })
  return { run, line: line! }
}

function asked(
  run: AcquirerRun,
  channels: ReadonlyMap<string, string>,
): Omit<LateRun, keyof AcquirerRun> {
  let events = 0
  const bring: LateRun['bring'] = async (id, { outcome, ...word }, to = run.gateway) => {
    const [row] = await run.sql<{ attempt_key: string; connector: string; account_id: string }>(
      'select attempt_key, connector, account_id from tollgate.payment where id = $1',
      [id],
    )
    events += 1
    const eventId = word.eventId ?? `event-${events}`
    const about = { ...word, eventId, key: row!.attempt_key, outcome }
    await to.inbound(row!.connector, row!.account_id, message(about))
    return eventId
  }
  const listed: LateRun['listed'] = (id) =>
    run.sql<Entry>(
      `select id, kind, reference, detail, resolved_at is null as open from tollgate.attention
        where payment_id = $1 order by at, id`,
      [id],
    )
  const aboutPayment = `ref = $1::text
    or ref = (select attempt_key from tollgate.payment where id = $1::text::uuid)`
  return {
    at: (name) => ({ entityId: channels.get(name)! }),
    follow: (on, paymentType, reference, fields = {}, script = {}) => {
      run.acquirer.tell(reference, script)
      return run.gateway.payments.followUp(on, {
        paymentType,
        merchantTransactionId: reference,
        ...fields,
      } as never)
    },
    bring,
    tell: async (id, word) => processed(run, await bring(id, word)),
    listed,
    kinds: async (id) => (await listed(id)).map(({ kind, open }) => (open ? kind : `(${kind})`)),
    audited: async (id) =>
      (
        await run.sql<{ action: string }>(
          'select action from tollgate.audit where resource = $1 order by at, id',
          [id],
        )
      ).map(({ action }) => action),
    code: async (id) => (await run.gateway.payments.get(id)).result.code,
    stateOf: async (id) => {
      const [row] = await run.sql<{ state: string }>(
        'select state from tollgate.payment where id = $1',
        [id],
      )
      return row?.state ?? 'no row'
    },
    age: async (id) => {
      await run.sql(
        `update tollgate.attempt set sent_at = sent_at - interval '1 hour',
           lease_until = case when lease_until > now() then now() - interval '1 second' else lease_until end
         where payment_id = $1`,
        [id],
      )
    },
    dueNow: async (id) => {
      await run.sql(`update tollgate.timer set due_at = now() where ${aboutPayment}`, [id])
    },
    dueLater: async (id) => {
      await run.sql(
        `update tollgate.timer set due_at = now() + interval '1 hour' where ${aboutPayment}`,
        [id],
      )
    },
    timers: async (id) =>
      (
        await run.sql<{ kind: string }>(
          `select kind from tollgate.timer where ${aboutPayment} order by kind`,
          [id],
        )
      ).map(({ kind }) => kind),
  }
}
