/**
 * Decisions that only people can make. None of these sends money: operators enquire, record a
 * decision, or queue the engine's own work again. Each commits an audit row with the operator's
 * name. A payment is named by any of its numbers, as for `inspect`.
 */

import {
  type AttentionRow,
  attentionById,
  closeAttention,
  openAttention,
} from '../attention/store.ts'
import { retryMessage } from '../attention/store-retry.ts'
import { addAudit, auditById } from '../audit/store.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId, newId, shortId } from '../ids.ts'
import { captureToCome } from '../payment/capture-to-come.ts'
import { isOpen as isOpenState } from '../payment/late-word-table.ts'
import { resolve } from '../payment/resolve.ts'
import { attemptByKey, paymentById, toAttempt, toPayment } from '../payment/store-read.ts'
import { captureSoFar } from '../payment/two-step.ts'
import type { Attempt, Payment } from '../payment/types.ts'
import type { JobSubject } from '../queue/types.ts'
import { executionById } from '../step/store-read.ts'
import { isAccepted, settleAccepted } from './accepted.ts'
import { reverseByHand } from './chargeback.ts'
import { type Decided, type SettledBy, wordsOf } from './decided.ts'
import { busy, type Decision, decideLate, refused } from './late-success.ts'
import { idNamed } from './named.ts'
import {
  addReferences,
  lackingReference,
  referencesOf,
  refuseForeign,
  refuseOthers,
} from './references.ts'
import { endSteps, refuseUnlessUndecided, settleUndecided } from './undecided.ts'

export type OperatorResult = {
  readonly state: Payment['state']
  readonly resultCode: string
  /** A sentence for the operator. */
  readonly text: string
}

export class Operator {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Entries of the operators' list, oldest first; of these channels, or of all. */
  readonly attention = (
    limit = 100,
    channels: readonly string[] | null = null,
  ): Promise<AttentionRow[]> => this.#engine.lanes.read(openAttention(limit, channels))

  /**
   * Enquires about an open payment now and settles the answer. The engine neither sends again nor
   * takes back, regardless of the answer.
   *
   * @throws GatewayError 404; 400 700.400.570 while another process works on the payment.
   */
  readonly enquire = async (reference: string, decided: Decided): Promise<OperatorResult> => {
    const { by, remarks } = wordsOf(decided)
    const { lanes } = this.#engine
    const id = await idNamed(this.#engine, reference)
    const payment = await this.#payment(id)
    // A caller with the id of a capture gets the sale.
    const asAsked = (now: Payment) => (payment.id === id ? now : captureSoFar(this.#engine, now))
    if (!isOpen(payment)) {
      return resultOf(
        await asAsked(payment),
        'the payment is decided already; the acquirer was not asked',
      )
    }
    const before = await this.#attempt(payment)
    this.#refuseUnderLease(before)
    const about = { entityId: payment.channelId, resource: payment.id }
    await lanes.single(
      addAudit({ actor: by, action: 'payment.enquired', ...about, detail: remarks }),
    )
    const after = await this.#engine.inFlight.track(
      resolve(this.#engine, payment.attemptKey, 'question'),
    )
    const attempt = await this.#attempt(payment)
    if (attempt.questions === before.questions) {
      this.#refuseUnderLease(attempt)
      throw refused(busy)
    }
    const now = after ?? payment
    return resultOf(
      await asAsked(now),
      isOpen(now)
        ? 'the acquirer was asked, and the payment is still open'
        : 'the acquirer answered',
    )
  }

  /**
   * Decides an open payment by hand: `approved` when the acquirer's own tools show that the money
   * moved, `declined` when they show the opposite. Balances and events follow as from any outcome.
   * A later word that contradicts the decision is a conflict, as with every other decision. For a
   * late success, `approved` keeps the money and `declined` states that the money was given back.
   *
   * For a two-step payment whose authorised amount cannot be captured, `declined` ends the sale
   * without a capture.
   *
   * With `references`, `approved` also adds those that an approved payment lacks, and replaces those that an
   * operator gave.
   *
   * @throws GatewayError 404; 400 700.400.570 when the payment is decided, pending within its time,
   * never enquired about, under a lease, or has a waiting word of the acquirer; 400 200.300.404 for wrong
   * references.
   */
  readonly settle = async (
    reference: string,
    as: 'approved' | 'declined',
    decided: SettledBy,
  ): Promise<OperatorResult> => {
    const words = wordsOf(decided)
    if (as !== 'approved' && as !== 'declined')
      throw refused('settle a payment as approved or as declined')
    const references = referencesOf(decided.references, as)
    const payment = await this.#payment(await idNamed(this.#engine, reference))
    if (references === undefined) return this.#settle(payment, as, words)
    await refuseForeign(this.#engine, payment, references)
    refuseOthers(payment, references)
    const isFinal = payment.state === 'approved' && payment.finalBy === null
    if (!isFinal) return this.#settle(payment, as, { ...words, references })
    await this.#engine.inFlight.track(addReferences(this.#engine, payment, references, words))
    return resultOf(payment, 'the payment has these references')
  }

  async #settle(
    payment: Payment,
    as: 'approved' | 'declined',
    decision: Decision,
  ): Promise<OperatorResult> {
    const attempt = await this.#attempt(payment)
    if (attempt.state === 'late') {
      this.#refuseUnderLease(attempt)
      await decideLate(this.#engine, payment, as, decision)
      const text = as === 'approved' ? 'the money is kept' : 'the money was given back'
      return this.#settled(await this.#payment(payment.id), text)
    }
    const { inFlight } = this.#engine
    if (payment.state === 'approved' && payment.chainId !== null) {
      const capture = await inFlight.track(endSteps(this.#engine, payment, as, decision))
      return resultOf(capture, 'nothing is captured, and the authorisation is released')
    }
    if (isAccepted(payment)) {
      await inFlight.track(settleAccepted(this.#engine, payment, as, decision))
      return this.#settled(await this.#payment(payment.id), `settled as ${as}`)
    }
    await refuseUnlessUndecided(this.#engine, payment, attempt)
    this.#refuseUnderLease(attempt)
    const settled = await inFlight.track(settleUndecided(this.#engine, payment, as, decision))
    return this.#settled(settled.payment, settled.text)
  }

  #settled(payment: Payment, text: string): OperatorResult {
    return resultOf(payment, `${text}${lackingReference(this.#engine, payment)}`)
  }

  /**
   * Queues the engine's own work on a payment or an execution of a schedule again. The work checks
   * before it acts, and sends again only under the known key, as the engine itself would.
   *
   * @throws GatewayError 404; 400 700.400.570 when no work is left.
   */
  readonly redrive = async (
    reference: string,
    decided: Decided,
  ): Promise<{ readonly text: string }> => {
    const { by, remarks } = wordsOf(decided)
    const engine = this.#engine
    const id = await idNamed(engine, reference)
    const { subject, entityId, resource } = await this.#subject(id)
    const dead = (await engine.jobs.find([subject])).filter((job) => job.isDead)
    const { database, pools } = engine.lanes
    await database.transaction(pools.single, async (client) => {
      await engine.jobs.enqueueWithin(client, subject)
      const detail = { ...remarks, dead: dead.length }
      const audit = { actor: by, action: 'payment.redriven', entityId, resource, detail }
      await database.query(client, addAudit(audit))
    })
    await engine.jobs.forget(dead)
    const before =
      dead.length === 0
        ? ''
        : `; replaces ${dead.length} ${dead.length === 1 ? 'job' : 'jobs'} that had failed for good`
    return { text: `queued for the next worker${before}` }
  }

  async #subject(id: string): Promise<{ subject: JobSubject; entityId: string; resource: string }> {
    const payment = await this.#found(id)
    if (payment === undefined) return { ...(await this.#execution(id)), resource: id }
    const subject = await this.#work(payment)
    // By the id of a capture to come: a late authorisation is taken back on a request of its own.
    return {
      subject,
      entityId: payment.channelId,
      resource: 'attemptKey' in subject ? payment.id : id,
    }
  }

  async #work(payment: Payment): Promise<JobSubject> {
    const attempt = await this.#attempt(payment)
    if (isOpen(payment) || attempt.state === 'late') {
      return { attemptKey: payment.attemptKey, isFollowUp: payment.parentId !== null }
    }
    if (payment.state === 'approved' && payment.chainId !== null) {
      return { authorisationId: payment.id }
    }
    if (payment.state === 'approved' && payment.finalBy === 'poll') {
      return { attemptKey: attempt.key, isFollowUp: false }
    }
    throw refused(`the payment is ${payment.state}, and no work is left for it`)
  }

  async #execution(id: string): Promise<{ subject: JobSubject; entityId: string }> {
    const [row] = isId(id) ? await this.#engine.lanes.single(executionById(id, null)) : []
    if (row === undefined) throw new GatewayError('700.400.580', { status: 404 })
    if (row.payment_id === null && row.failure === null) {
      return {
        subject: { merchantId: row.merchant_id, executionId: id },
        entityId: row.channel_id,
      }
    }
    if (row.payment_id === null)
      throw refused(
        `this execution failed without a payment (${row.failure}), and its schedule does not repeat it`,
      )
    throw refused(
      `this execution already has a payment. Give the id of that payment: ${row.payment_id}`,
    )
  }

  /**
   * Takes an entry off the operators' list. One about an open payment stays until that is decided.
   *
   * @param id Of the entry.
   * @throws GatewayError 404; 400 700.400.570.
   */
  readonly resolve = async (id: string, decided: Decided): Promise<{ readonly text: string }> => {
    const { by, remarks } = wordsOf(decided)
    const { lanes } = this.#engine
    const [found] = isId(id) ? await lanes.single(attentionById(id)) : []
    if (found === undefined) throw new GatewayError('700.400.580', { status: 404 })
    const audit = { id: newId(), detail: { ...remarks, entry: id } }
    const [closed] = await lanes.single(closeAttention(id, by, audit))
    // A decision whose answer was lost was run again, and found itself made.
    const [own] = closed === undefined ? await lanes.single(auditById(audit.id)) : [closed]
    if (own !== undefined) {
      const about = found.payment_id === null ? '' : ` of payment ${found.payment_id}`
      return { text: `${found.kind}${about} is off the list` }
    }
    const [now] = await lanes.single(attentionById(id))
    if (now?.resolved_at != null)
      throw refused(`${now.resolved_by} already took this entry off the list`)
    throw refused(
      'the payment of this entry is undecided. Decide it first: tollgate payment settle',
    )
  }

  /**
   * States that a chargeback was given back, where no message of the acquirer does: its open amount
   * is recorded as reversed. Refunds and reversals of the payment continue unless another entry
   * freezes them.
   *
   * @param reference The id of the chargeback.
   * @throws GatewayError 404; 400 700.400.570 for other payments, and for a chargeback without an
   * open amount.
   */
  readonly reverseChargeback = async (
    reference: string,
    decided: Decided,
  ): Promise<{ readonly text: string }> => {
    const decision = wordsOf(decided)
    const id = await idNamed(this.#engine, reference)
    return { text: await reverseByHand(this.#engine, id, decision) }
  }

  /**
   * Retries a message of an acquirer that was put aside, and ends its entry. For a second content
   * under a known id, retries that content.
   *
   * @param id Of the entry.
   * @throws GatewayError 404; 400 700.400.570 when no message is aside for the entry.
   */
  readonly retry = async (id: string, decided: Decided): Promise<{ readonly text: string }> => {
    const { by, remarks } = wordsOf(decided)
    const { lanes } = this.#engine
    const [found] = isId(id) ? await lanes.single(attentionById(id)) : []
    if (found === undefined) throw new GatewayError('700.400.580', { status: 404 })
    const audit = { id: newId(), detail: { ...remarks, entry: id } }
    const [again] = await lanes.single(retryMessage(id, by, audit))
    // A decision whose answer was lost was run again, and found itself made.
    const [own] = again === undefined ? await lanes.single(auditById(audit.id)) : [again]
    if (own !== undefined) return { text: `the message ${found.detail.event} is processed again` }
    const [now] = await lanes.single(attentionById(id))
    if (now?.resolved_at != null)
      throw refused(`${now.resolved_by} already took this entry off the list`)
    throw refused(
      'no message of the acquirer is set aside for this entry, so there is nothing to retry',
    )
  }

  /** Only informs: the lease itself keeps two processes from moving one payment. */
  #refuseUnderLease({ leaseUntil }: Pick<Attempt, 'leaseUntil'>): void {
    if (leaseUntil === null || leaseUntil.getTime() <= this.#engine.clock.realMs()) return
    throw refused(
      `another process works on this payment now. Try again after ${leaseUntil.toISOString()}`,
    )
  }

  async #payment(id: string): Promise<Payment> {
    const payment = await this.#found(id)
    if (payment === undefined) throw new GatewayError('700.400.580', { status: 404 })
    return payment
  }

  async #found(id: string): Promise<Payment | undefined> {
    if (!isId(id)) return undefined
    const [row] = await this.#engine.lanes.single(paymentById(id, null))
    if (row !== undefined) return toPayment(row)
    // A two-step payment before its capture: the decision is about the authorisation.
    return (await captureToCome(this.#engine, id, null))?.authorisation
  }

  async #attempt(payment: Payment): Promise<Attempt> {
    const [row] = await this.#engine.lanes.single(attemptByKey(payment.attemptKey))
    if (row === undefined)
      throw refused('the attempt of this payment is missing. Run tollgate doctor')
    return toAttempt(row)
  }
}

/** @throws GatewayError when a name or a reason is missing. Card numbers in them are masked. */
const isOpen = ({ state }: Payment) => isOpenState(state)

const resultOf = (payment: Payment, text: string): OperatorResult => ({
  state: payment.state,
  resultCode: payment.resultCode,
  text: `${shortId(payment.shortNo)} ${payment.state} ${payment.resultCode}: ${text}`,
})
