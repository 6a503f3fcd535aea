/** Plays payments up to their word through the public interfaces. */
import assert from 'node:assert/strict'
import {
  accepted,
  approved,
  type Context,
  declined,
  type Found,
  type Kind,
  type Operation,
  type Outcome,
  pending,
  type Reversed,
  unknown,
} from '@tollgate/plugin-kit'
import {
  type AcquirerRun,
  message,
  type Script,
  scriptedAcquirer,
  scriptedName,
  startWithAcquirer,
} from '../../../rig/acquirer.ts'
import { until } from '../../../rig/gateway.ts'
import { amountOf, type Cell, part, type Step, type Subject, type Word, whole } from './cells.ts'
import { type Amounts, money, moneyOf, outcomeOf, unsaid } from './said.ts'

/** One cell with its payments. */
export type Played = Amounts & {
  readonly cell: Cell
  readonly reference: string
  readonly id: string
  readonly parentId: string | null
  readonly returnedId: string | null
}

const kinds: Readonly<Record<Subject, Kind>> = {
  authorisation: 'authorize',
  sale: 'debit',
  credit: 'credit',
  capture: 'capture',
  release: 'reverse',
  void: 'reverse',
  'void of a capture': 'reverse',
  refund: 'refund',
  increase: 'increment',
  replacement: 'authorize',
  undo: 'reverse',
}

/** The number of simultaneous payments. */
const abreast = 32

export class Play {
  readonly run: AcquirerRun
  /** The acquirer's latest message about a payment, by the payment's reference. */
  readonly #said = new Map<string, Found>()
  /** The acquirer's keys, by payment. */
  readonly #keys = new Map<string, string>()
  #events = 0

  private constructor(run: AcquirerRun) {
    this.run = run
  }

  static async start(): Promise<Play> {
    return new Play(await startWithAcquirer({ acquirer: scriptedAcquirer() }))
  }

  /**
   * Plays every cell up to its word; undecided ones come last, before the engine enquires by
   * itself.
   */
  async stage(cells: readonly Cell[]): Promise<Played[]> {
    const isUndecided = ({ standing }: Cell) => standing === 'undecided'
    const played = await this.#stageAll(
      cells.filter((cell) => !isUndecided(cell)),
      'known',
    )
    const at = (standing: Cell['standing']) =>
      played.filter(({ cell }) => cell.standing === standing)
    await this.#haveExpired(at('expired'))
    const chargedBack = played.filter(({ cell }) => cell.situation.chargedBack !== undefined)
    await inParallel(chargedBack, (one) =>
      this.#event(
        // For a refund, the sale, because a refund took no money that could be charged back.
        one.cell.subject === 'refund' ? { ...one, id: one.parentId! } : one,
        { is: 'chargeback', refs: {} },
        money(one, one.cell.situation.chargedBack!),
      ),
    )
    await inParallel(at('reversing'), (one) =>
      this.#event(one, unknown('ask'), money(one, amountOf(one.cell.subject))),
    )
    await inParallel(at('late'), (one) => this.say(one, 'approved'))
    await inParallel(at('late, may fail'), (one) => this.say(one, 'accepted'))
    await this.rest()
    return [...(await this.#stageAll(cells.filter(isUndecided), 'unknown')), ...played]
  }

  async #stageAll(cells: readonly Cell[], name: string): Promise<Played[]> {
    const played = await inParallel(cells, (cell, no) => this.#stage(cell, `${name}-word-${no}`))
    const rows = await this.run.sql<{ id: string; attempt_key: string }>(
      'select id, attempt_key from tollgate.payment where id = any($1::uuid[])',
      [played.flatMap(({ id, parentId }) => [id, ...(parentId === null ? [] : [parentId])])],
    )
    for (const row of rows) this.#keys.set(row.id, row.attempt_key)
    return played
  }

  async #haveExpired(played: readonly Played[]): Promise<void> {
    await until(async () => {
      const [row] = await this.run.sql<{ open: bigint }>(
        `select count(*) as open from tollgate.payment where id = any($1::uuid[]) and state <> 'expired'`,
        [played.map(({ id }) => id)],
      )
      return row!.open === 0n ? true : undefined
    })
  }

  async #stage(cell: Cell, reference: string): Promise<Played> {
    const isFine = cell.word === 'approved for what the wire cannot say'
    const currency = isFine ? 'KWD' : 'EUR'
    const unit = isFine ? 10 : 1
    const first = (paymentType: string, of: string, script: Script) =>
      this.run.debit(of, script, { paymentType, ...asked(whole, currency) })
    const script = this.#script(cell, reference)
    let ids: { id: string; parentId: string | null; returnedId: string | null }
    switch (cell.subject) {
      case 'authorisation':
      case 'sale':
      case 'credit': {
        const type = { authorisation: 'PA', sale: 'DB', credit: 'CD' }[cell.subject]
        ids = { id: (await first(type, reference, script)).id, parentId: null, returnedId: null }
        break
      }
      case 'undo': {
        const { id: sale } = await first('DB', reference, script)
        const id = await this.#takenBack(sale, { currency, unit })
        ids = { id, parentId: null, returnedId: null }
        break
      }
      default: {
        const isOfSale = cell.subject === 'refund' || cell.subject === 'void'
        const { id: root } = await first(isOfSale ? 'DB' : 'PA', `${reference}-root`, {})
        const isOfCapture = cell.subject === 'void of a capture'
        const parentId = isOfCapture
          ? await this.#send(root, 'capture', `${reference}-taken`, asked(part, currency))
          : root
        this.run.acquirer.tell(reference, script)
        const id = await this.#send(
          parentId,
          cell.subject,
          reference,
          asked(amountOf(cell.subject), currency),
        )
        ids = { id, parentId, returnedId: isOfCapture ? root : null }
      }
    }
    const played = { cell, reference, currency, unit, ...ids } as const
    for (const step of cell.situation.steps) await this.#step(played, step)
    return played
  }

  /** A declined sale that succeeds late: the engine takes it back by an operation of its own. */
  async #takenBack(sale: string, amounts: Amounts): Promise<string> {
    this.#keys.set(sale, await this.run.keyOf(sale))
    await this.#event({ ...amounts, id: sale }, { is: 'approved', refs: {} }, money(amounts, whole))
    return until(async () => {
      const [undo] = await this.run.sql<{ id: string }>(
        `select id from tollgate.payment
         where referenced_id = $1 and effect = 'undo' and state <> 'processing'`,
        [sale],
      )
      return undo?.id
    })
  }

  async #step(played: Played, { on, does, amount }: Step): Promise<void> {
    if (does === 'charge back') return
    const id = { own: played.id, parent: played.parentId, returned: played.returnedId }[on]!
    const subject = {
      reverse: 'void',
      replace: 'replacement',
      capture: 'capture',
      refund: 'refund',
    }
    const fields = amount === undefined ? {} : asked(amount, played.currency)
    await this.#send(id, subject[does] as Subject, `${played.reference}-step`, fields)
  }

  async #send(
    id: string,
    subject: Subject,
    reference: string,
    amount: Record<string, string>,
  ): Promise<string> {
    const type = { capture: 'CP', refund: 'RF', increase: 'PA', replacement: 'PA' }[
      subject as 'refund'
    ]
    const practice = subject === 'increase' ? 'INCREMENTAL_AUTH' : 'REAUTHORIZATION'
    const answer = await this.run.gateway.payments.followUp(id, {
      paymentType: type ?? 'RV',
      merchantTransactionId: reference,
      ...amount,
      ...(type === 'PA' ? { standingInstruction: { industryPractice: practice } } : {}),
    } as never)
    return answer.id
  }

  #script(cell: Cell, reference: string): Script {
    if (cell.subject !== 'undo') return this.#scriptOf(cell, reference)
    const { reverse, enquire, reverseByKey } = this.#scriptOf(cell, reference)
    const isSale = ({ kind }: Operation) => kind === 'debit'
    // The sale was declined, succeeds late, and can only be taken back by an operation.
    return {
      debit: (_, context) => {
        context.sending()
        return declined('800.100.155')
      },
      reverse: reverse!,
      enquire: (operation, context) =>
        isSale(operation) ? approved({ reference }) : enquire!(operation, context),
      reverseByKey: (operation, context) =>
        isSale(operation) ? { is: 'refused', why: 'too old' } : reverseByKey!(operation, context),
    }
  }

  #scriptOf({ subject, standing, undo }: Cell, reference: string): Script {
    const said = () => this.#said.get(reference)
    const first = (operation: Operation, context: Context): Outcome => {
      context.sending()
      const refs = { reference: `at-${operation.key}` }
      switch (standing) {
        case 'undecided':
        case 'reversing':
          return unknown('the line went dead')
        case 'pending':
          return pending('event', { refs })
        case 'expired':
          return pending('event', { refs, expiresAt: context.clock.now() })
        case 'approved':
          return approved(refs)
        case 'accepted':
          return accepted(refs, 'event')
        default:
          return declined('800.100.155')
      }
    }
    const reverseByKey = (): Reversed => {
      if (said() === undefined) return { is: 'nothing' }
      const isOpen = standing.startsWith('late') || standing === 'reversing'
      if (isOpen) return { is: 'unknown', why: 'no answer' }
      return undo === 'by its key' ? { is: 'reversed' } : { is: 'refused', why: 'too late' }
    }
    const reverse = (operation: Operation, context: Context): Outcome => {
      context.sending()
      return undo === 'in vain' ? declined('800.100.155') : approved({ reference: operation.key })
    }
    return {
      reverse,
      [kinds[subject]]: first,
      // An enquiry repeats the acquirer's latest message.
      enquire: () => said() ?? unsaid(standing),
      reverseByKey,
    }
  }

  /** Sends a proven message of the acquirer. */
  async say(played: Played, word: Word, eventId?: string): Promise<void> {
    const amount = amountOf(played.cell.subject)
    const refs = { reference: `said-${played.reference}` }
    const money1 = moneyOf(played, word, amount)
    const outcome = outcomeOf(word, refs, money1)
    // An enquiry names no amount of a reversal, so it cannot confirm one of another amount.
    const isUnclear = word === 'reversed for less'
    this.#said.set(played.reference, isUnclear ? unknown('a part was reversed') : outcome)
    await this.#event(played, { ...outcome, amount: undefined }, money1, eventId)
  }

  #nextEvent(): string {
    this.#events += 1
    return `cells-${this.#events}`
  }

  async #event(
    { id }: Pick<Played, 'id'>,
    outcome: unknown,
    { minor, currency }: { minor: bigint; currency: string },
    eventId = this.#nextEvent(),
  ): Promise<void> {
    const about = { eventId, key: this.#keys.get(id)!, minor: String(minor), currency, outcome }
    await this.run.gateway.inbound(scriptedName, this.run.account, message(about))
  }

  /** Waits until every message is processed and no immediate reversal is under way. */
  async rest(): Promise<void> {
    await until(async () => {
      const [row] = await this.run.sql<{ open: bigint }>(
        `select (select count(*) from tollgate.inbound_event where processed_at is null)
           + (select count(*) from tollgate.attempt
              join tollgate.payment on payment.id = attempt.payment_id
              where attempt.state = 'late' and payment.result_code = '900.100.400'
                and payment.effect not in ('release', 'void')
                -- A success whose reversal failed stands.
                and not exists (select from tollgate.attention
                  where attempt_key = attempt.key and detail ->> 'outcome' = 'notReversed')) as open`,
      )
      return row!.open === 0n ? true : undefined
    })
  }
}

const asked = (amount: number, currency: string) => ({
  amount: (amount / 100).toFixed(2),
  currency,
})

/** Runs a bounded number at a time. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item, no: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async () => {
    for (let no = next++; no < items.length; no = next++) results[no] = await work(items[no]!, no)
  }
  await Promise.all(Array.from({ length: abreast }, worker))
  assert.equal(results.length, items.length)
  return results
}
