/** Payments whose reversal by key is under way, and ways to say, ask and decide something meanwhile. */
import {
  approved,
  type Connector,
  type Context,
  type Operation,
  type Outcome,
  pending,
  type Reversed,
} from '@tollgate/plugin-kit'
import type { Script } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { approval, type LateRun, refuse, startLate } from '../../rig/late-words.ts'

/** The acquirer's answer to a reversal that it only took. */
export const taken: Reversed = { is: 'requested', refs: { reversal: 'r-1' } }
export const reversed = { outcome: { is: 'reversed', refs: { reversal: 'r-1' } } }
export const notReversed = { outcome: { is: 'notReversed', why: 'the scheme refused' } }
export const alice = { by: 'alice', reason: 'seen in the tool of the acquirer' }
export const bankPage = { redirect: { url: 'https://bank.example/confirm' } }
const merchantPage = 'https://shop.example/thanks?order=7'
/** The acquirer holds half of the amount. */
export const less = () =>
  approved({ reference: 'less' }, { amount: { minor: 4600n, currency: 'EUR' } })

export const wait = (_: Operation, context: Context) => {
  context.sending()
  return pending('event', { refs: { reference: 'open' } })
}

export type ReversalRun = Awaited<ReturnType<typeof startReversals>>

export async function startReversals() {
  /** How a shopper's return is answered, by the merchant's reference. */
  const completes = new Map<string, Outcome>()
  const completed: string[] = []
  const bank = (connector: Connector): Connector => ({
    ...connector,
    complete: async (operation, _, context) => {
      context.sending()
      completed.push(operation.merchantTransactionId!)
      return completes.get(operation.merchantTransactionId!)!
    },
  })
  const options = { publicUrl: 'https://pay.example', connectorTimeoutMs: 2_000 }
  const run = await startLate({ bank, parts: (connector) => connector }, options)
  const { entityId } = run.at('parts')
  await run.gateway.entities.configure(entityId, { partialApproval: true }, { by: 'alice' })

  const asked = (id: string) =>
    until(async () => {
      const isAsked = (await run.audited(id)).includes('reverse-by-key')
      return isAsked && (await run.stateOf(id)) === 'unknown' && !(await isLeased(id))
        ? true
        : undefined
    })
  const isLeased = async (id: string) =>
    (
      await run.sql(
        'select 1 from tollgate.attempt where payment_id = $1 and lease_until is not null',
        [id],
      )
    ).length > 0
  /** An open payment whose reversal the acquirer took, and then tells nothing of. */
  const requested = async (reference: string, script: Script = {}, at = {}) => {
    const expiring = { debit: wait, enquire: () => pending('event'), reverseByKey: () => taken }
    const { id } = await run.debit(reference, { ...expiring, ...script }, at)
    await run.dueNow(id)
    await asked(id)
    return id
  }
  /** A payment whose shopper is on a page of the bank. */
  const away = async (reference: string, script: Script = {}) => {
    let page = ''
    const { id } = await run.debit(
      reference,
      {
        debit: (operation, context) => {
          context.sending()
          page = operation.returnUrl!
          return pending(bankPage, { refs: { bank: 'b' } })
        },
        enquire: () => pending(bankPage),
        reverseByKey: () => taken,
        ...script,
      },
      { shopperResultUrl: merchantPage, ...run.at('bank') },
    )
    return { id, token: page.split('/').at(-1)! }
  }
  const timeIsUp = (id: string) =>
    run.sql(
      `update tollgate.timer set due_at = now() where kind = 'expire'
         and ref = (select attempt_key from tollgate.payment where id = $1)`,
      [id],
    )
  const comeBack = (id: string, token: string) =>
    run.gateway.shoppers.cameBack(id, token, { method: 'GET', query: {}, form: {} })
  /** A declined payment that the acquirer carried out, and whose reversal it took. */
  const late = async (reference: string, script: Script = {}) => {
    const refused = { debit: refuse, enquire: () => ({ is: 'requested' }) as const }
    const { id } = await run.debit(reference, { ...refused, reverseByKey: () => taken, ...script })
    await run.tell(id, { outcome: approval })
    await until(async () => (calls(reference, 'reverseByKey') > 0 ? true : undefined))
    await until(async () => ((await isLeased(id)) ? undefined : true))
    return id
  }
  /** Tells a word until no other process holds the payment. */
  const tellFree = async (id: string, word: Parameters<LateRun['tell']>[1]) => {
    await until(async () => ((await isLeased(id)) ? undefined : true))
    return run.tell(id, word)
  }
  const calls = (reference: string, what: string) =>
    run.acquirer.of(reference).filter((call) => call === what).length
  const details = async (id: string) => (await run.listed(id)).map(({ detail }) => detail)
  const messageOf = async (eventId: string) => {
    const [row] = await run.sql<{ outcome: string | null }>(
      'select outcome from tollgate.inbound_event where event_id = $1',
      [eventId],
    )
    return row!.outcome
  }
  const hurry = async () => {
    await run.sql('update tollgate.inbound_event set next_at = now() where processed_at is null')
  }

  return {
    ...run,
    close: () => closeChecked(run),
    ...{ completes, completed, asked, isLeased, requested, away, timeIsUp, comeBack },
    ...{ late, tellFree, calls, details, messageOf, hurry },
  }
}
