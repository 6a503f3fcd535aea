/** A gateway whose acquirer sends messages, and the store of these messages. */
import {
  type Connector,
  type Context,
  definePlugin,
  type Inbound,
  type Operation,
  unknown,
} from '@tollgate/plugin-kit'
import {
  message,
  scriptedAcquirer,
  scriptedName,
  sentAgain,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'

export const charged = '000.100.112'
export const card = '4200000000000000'
export const approval = { is: 'approved', refs: { reference: 'by-event' } }
export const failure = { is: 'declined', reason: '800.100.203', refs: {} }
export const chargeback = { is: 'chargeback', reason: '000.100.220', refs: { case: 'c-1' } }

export const lost = (_: Operation, context: Context) => {
  context.sending()
  return unknown('the line went dead')
}

/** A message without proof. */
export const forged = (about: Parameters<typeof message>[0]) => message(about, {})

type Reads = NonNullable<Connector['inbound']>
type Row = { tries: number; waits: number; outcome: string | null; open: boolean; claim: unknown }
export type Entry = {
  id: string
  kind: string
  reference: string
  payment_id: string | null
  detail: object
}

export type MessageRun = Awaited<ReturnType<typeof startMessages>>

export async function startMessages() {
  /** Overrides of the connector for its next messages. */
  let wrong: Partial<Reads> = {}
  const acquirer = scriptedAcquirer()
  const [connector] = acquirer.plugin.connectors!
  const { verify, parse } = connector!.inbound!
  const inbound: Reads = {
    verify: (one, context) => (wrong.verify ?? verify)(one, context),
    parse: (one, context) => (wrong.parse ?? parse)(one, context),
  }
  const plugin = definePlugin({ ...acquirer.plugin, connectors: [{ ...connector!, inbound }] })
  const run = await startWithAcquirer({
    acquirer: { ...acquirer, plugin },
    connectorTimeoutMs: 1_000,
  })

  const tell = (one: Inbound) => run.gateway.inbound(scriptedName, run.account, one)
  const forge = (about: Parameters<typeof message>[0]) => sentAgain(tell(forged(about)))
  /** Replaces parts of the connector while the work lasts. */
  const doing = async (instead: Partial<Reads>, work: () => Promise<unknown>) => {
    wrong = instead
    try {
      await work()
    } finally {
      wrong = {}
    }
  }
  const rowOf = async (eventId: string): Promise<Row | undefined> => {
    const [row] = await run.sql<Row>(
      `select tries, waits, outcome, processed_at is null as open, claim
       from tollgate.inbound_event where event_id = $1`,
      [eventId],
    )
    return row
  }
  const listed = async (eventId: string): Promise<Entry[]> =>
    run.sql<Entry>(
      `select id, kind, reference, payment_id, detail from tollgate.attention
       where detail ->> 'event' = $1 and resolved_at is null`,
      [eventId],
    )
  /** Stores a claim like a process that ended before it processed the claim. */
  const stored = (
    eventId: string,
    claim: object,
    { received = 'now()', due = 'now()', waits = 0 } = {},
  ) =>
    run.sql(
      `insert into tollgate.inbound_event (connector, account, event_id, claim, received_at, next_at, waits)
       values ($1, $2, $3, $4, ${received}, ${due}, $5)`,
      [
        scriptedName,
        run.account,
        eventId,
        JSON.stringify({ verified: true, minor: '9200', currency: 'EUR', ...claim }),
        waits,
      ],
    )
  const due = (eventId: string) =>
    run.sql('update tollgate.inbound_event set next_at = now() where event_id = $1', [eventId])
  const code = async (id: string) => (await run.gateway.payments.get(id)).result.code

  return {
    ...run,
    close: () => closeChecked(run),
    ...{ tell, forge, doing, rowOf, listed, stored, due, code },
  }
}
