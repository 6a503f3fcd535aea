/**
 * What people decide where the engine must not. None of these sends money: they ask, they put a
 * decision on record, or they queue the engine's own work again. Each leaves an audit row with the
 * name of who did it, in the same commit as what it did.
 */
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId, newId, shortId } from '../ids.ts'
import type { Subject } from '../jobs/payment-jobs.ts'
import { maskCardNumbers } from '../net/mask.ts'
import { takeAttempt } from '../payment/lease.ts'
import { referencedBy, undoOf } from '../payment/rebuild.ts'
import { resolve } from '../payment/resolve.ts'
import { settle } from '../payment/settle.ts'
import { attemptByKey, paymentById, toAttempt, toPayment } from '../payment/store-read.ts'
import { dropLease } from '../payment/store-settle.ts'
import type { Attempt, Payment } from '../payment/types.ts'
import { instantById } from '../step/store-read.ts'
import { addTimer } from '../timer/store.ts'
import {
  type AttentionRow,
  addAudit,
  attentionById,
  closeAttention,
  openAttention,
  resolveAttention,
  waitingWord,
} from './store.ts'

/** Who decides, and why: both stand in the audit row for good. */
export type Decided = { readonly by: string; readonly reason: string }

export type Told = {
  readonly state: Payment['state']
  readonly resultCode: string
  /** In words, for whoever asked. */
  readonly text: string
}

/** The code of a payment that an operator decided was not charged, though nobody proved it. */
const undecidable = '900.100.300'

export class Operator {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** What operators have to look at, oldest first. */
  readonly attention = (limit = 100): Promise<AttentionRow[]> =>
    this.#engine.lanes.read(openAttention(limit))

  /**
   * Asks the acquirer now what became of an open payment, and settles what it says. Nothing is sent
   * again and nothing taken back, whatever the answer.
   *
   * @throws GatewayError 404; 400 700.400.570 when somebody else works on it now.
   */
  readonly enquire = async (id: string, decided: Decided): Promise<Told> => {
    const { by, reason } = wordsOf(decided)
    const { lanes } = this.#engine
    const payment = await this.#payment(id)
    if (!isOpen(payment)) return told(payment, 'it is decided; nothing was asked')
    const before = await this.#attempt(payment)
    this.#refuseUnderLease(before)
    await lanes.single(addAudit(newId(), by, 'payment.enquired', payment.id, { reason }))
    const after = await this.#engine.running.track(
      resolve(this.#engine, payment.attemptKey, 'question'),
    )
    const attempt = await this.#attempt(payment)
    if (attempt.enquiries === before.enquiries) {
      this.#refuseUnderLease(attempt)
      throw refused('somebody else works on it now')
    }
    const now = after ?? payment
    return told(
      now,
      isOpen(now) ? 'the acquirer was asked and it is still open' : 'the acquirer told',
    )
  }

  /**
   * Decides an open payment by hand: `approved` when the acquirer's own tools show that the money
   * moved, `declined` when they show that it did not. Balances and events follow as from any outcome.
   * What arrives later and contradicts it is a conflict, as with every other decision.
   *
   * @throws GatewayError 404; 400 700.400.570 when it is decided, pending, never asked about, under
   * somebody's lease, or when a word of the acquirer waits.
   */
  readonly settle = async (
    id: string,
    as: 'approved' | 'declined',
    decided: Decided,
  ): Promise<Told> => {
    const { by, reason } = wordsOf(decided)
    if (as !== 'approved' && as !== 'declined')
      throw refused('a payment is settled as approved or as declined')
    const payment = await this.#payment(id)
    const attempt = await this.#attempt(payment)
    await this.#refuseUnlessUndecided(payment, attempt)
    return this.#engine.running.track(this.#settle(payment, as, by, reason))
  }

  async #settle(
    payment: Payment,
    as: 'approved' | 'declined',
    by: string,
    reason: string,
  ): Promise<Told> {
    const engine = this.#engine
    // The lease is the fence: an answer, an event or another operator that comes now finds it taken.
    const taken = await takeAttempt(engine, payment.attemptKey)
    if (taken === undefined) {
      const now = await this.#payment(payment.id)
      throw refused(isOpen(now) ? 'somebody else works on it now' : `it is ${now.state} by now`)
    }
    try {
      // Read under the lease: from here on nobody else moves it.
      const current = await this.#payment(payment.id)
      // Nothing is asked of the connector, which may be gone: that is why people decide.
      const undo = undoOf(current, await referencedBy(engine, current))
      const work = { payment: current, lease: taken.lease, accepted: null, undo }
      const outcome =
        as === 'approved'
          ? ({ is: 'approved', refs: current.answer.refs ?? {} } as const)
          : ({ is: 'declined', reason: undecidable } as const)
      const detail = { reason, as, lease: taken.lease }
      const settled = await settle(engine, work, outcome, 'operator', taken.enquiries, [
        addAudit(newId(), by, 'payment.settled', current.id, detail),
        resolveAttention(current.id, 'undecided', by),
      ])
      if (!settled.moved) throw refused(`it is ${settled.payment.state} by now`)
      if (as === 'approved' && current.chainId !== null) {
        await engine.lanes.single(addTimer(newId(), 'continue', current.id, 0))
      }
      return told(settled.payment, `settled as ${as}`)
    } catch (error) {
      // Without a decision the right to make one goes back at once.
      await engine.lanes.single(dropLease(payment.attemptKey, taken.lease))
      throw error
    }
  }

  async #refuseUnlessUndecided(payment: Payment, attempt: Attempt): Promise<void> {
    if (payment.state === 'pending') {
      throw refused('it is pending: its shopper may still end it, and it expires by itself')
    }
    if (!isOpen(payment)) throw refused(`it is ${payment.state}: a decision is not taken back`)
    this.#refuseUnderLease(attempt)
    if (attempt.enquiries === 0) {
      throw refused('nobody asked the acquirer yet: tollgate payment enquire')
    }
    const [word] = await this.#engine.lanes.single(waitingWord(payment.attemptKey))
    if (word !== undefined) {
      throw refused(
        `the acquirer told something that waits to be worked on (event ${word.event_id})`,
      )
    }
  }

  /**
   * Queues the engine's own work on a payment or an execution of a schedule again: it asks before it
   * acts, and sends again only under the key that the acquirer knows already, where the engine would.
   *
   * @throws GatewayError 404; 400 700.400.570 when nothing is left to be done.
   */
  readonly redrive = async (id: string, decided: Decided): Promise<{ readonly text: string }> => {
    const { by, reason } = wordsOf(decided)
    const engine = this.#engine
    const subject = await this.#subject(id)
    const dead = (await engine.jobs.find([subject])).filter((job) => job.isDead)
    const { database, pools } = engine.lanes
    await database.transaction(pools.single, async (client) => {
      await engine.jobs.enqueueWithin(client, subject)
      const detail = { reason, dead: dead.length }
      await database.query(client, addAudit(newId(), by, 'payment.redriven', id, detail))
    })
    await engine.jobs.forget(dead)
    const before = dead.length === 0 ? '' : ` in the place of ${dead.length} that ran out of tries`
    return { text: `queued for the next worker${before}` }
  }

  async #subject(id: string): Promise<Subject> {
    const [row] = isId(id) ? await this.#engine.lanes.single(paymentById(id, null)) : []
    if (row === undefined) return this.#execution(id)
    const payment = toPayment(row)
    const attempt = await this.#attempt(payment)
    if (isOpen(payment)) {
      const isFollowUp = payment.parentId !== null
      return { attemptKey: payment.attemptKey, isFollowUp, why: 'enquiry' }
    }
    if (payment.state === 'approved' && payment.chainId !== null) return { authorisationId: id }
    if (payment.state === 'approved' && payment.finalBy === 'poll') {
      return { attemptKey: attempt.key, isFollowUp: false, why: 'finality' }
    }
    throw refused(`it is ${payment.state}: nothing is left to be done`)
  }

  async #execution(id: string): Promise<Subject> {
    const [row] = isId(id) ? await this.#engine.lanes.single(instantById(id, null)) : []
    if (row === undefined) throw new GatewayError('700.400.580', { status: 404 })
    if (row.payment_id === null && row.failure === null) {
      return { merchantId: row.merchant_id, occurrenceId: id }
    }
    if (row.payment_id === null) throw refused(`no payment could be made: ${row.failure}`)
    throw refused(`it has its payment, ${row.payment_id}`)
  }

  /**
   * Takes an entry off the operators' list. One about an open payment stays until that is decided.
   *
   * @param id Of the entry.
   * @throws GatewayError 404; 400 700.400.570.
   */
  readonly resolve = async (id: string, decided: Decided): Promise<{ readonly text: string }> => {
    const { by, reason } = wordsOf(decided)
    const { lanes } = this.#engine
    const [found] = isId(id) ? await lanes.single(attentionById(id)) : []
    if (found === undefined) throw new GatewayError('700.400.580', { status: 404 })
    const [closed] = await lanes.single(
      closeAttention(id, by, { id: newId(), detail: { reason, entry: id } }),
    )
    if (closed !== undefined)
      return { text: `${found.kind} of payment ${found.payment_id} is off the list` }
    const [now] = await lanes.single(attentionById(id))
    if (now?.resolved_at != null) throw refused(`it was taken off the list by ${now.resolved_by}`)
    throw refused('its payment is still open: tollgate payment settle decides it')
  }

  /** Only a sentence: what keeps two from moving one payment is the lease that each has to take. */
  #refuseUnderLease({ leaseUntil }: Attempt): void {
    if (leaseUntil === null || leaseUntil.getTime() <= this.#engine.clock.realMs()) return
    throw refused(`somebody works on it now, until ${leaseUntil.toISOString()} at most`)
  }

  async #payment(id: string): Promise<Payment> {
    const [row] = isId(id) ? await this.#engine.lanes.single(paymentById(id, null)) : []
    if (row === undefined) throw new GatewayError('700.400.580', { status: 404 })
    return toPayment(row)
  }

  async #attempt(payment: Payment): Promise<Attempt> {
    const [row] = await this.#engine.lanes.single(attemptByKey(payment.attemptKey))
    if (row === undefined) throw refused('its attempt is missing: tollgate doctor')
    return toAttempt(row)
  }
}

/** @throws GatewayError when a name or a reason is missing. Card numbers in them are masked. */
function wordsOf({ by, reason }: Decided): Decided {
  for (const [name, value, most] of [
    ['by', by, 200],
    ['reason', reason, 1000],
  ] as const) {
    if (typeof value === 'string' && value.trim() !== '' && value.length <= most) continue
    throw new GatewayError('200.300.404', {
      parameterErrors: [{ name, message: `must say something, in ${most} characters at most` }],
      description: `${name} must say something, in ${most} characters at most`,
    })
  }
  return { by: maskCardNumbers(by.trim()), reason: maskCardNumbers(reason.trim()) }
}

const isOpen = ({ state }: Payment) =>
  state === 'processing' || state === 'pending' || state === 'unknown'

const told = (payment: Payment, text: string): Told => ({
  state: payment.state,
  resultCode: payment.resultCode,
  text: `${shortId(payment.shortNo)} ${payment.state} ${payment.resultCode}: ${text}`,
})

const refused = (why: string) => new GatewayError('700.400.570', { description: why })
