/** The life of one tree of payments: each number is one step. */
import assert from 'node:assert/strict'
import { cannotBeUndone } from '../../../core/payment/balance-rules.ts'
import { isOpen } from '../../../core/payment/late-word-table.ts'
import type { Effect } from '../../../core/payment/operation-kinds.ts'
import type { Payment } from './books.ts'
import { Engine, type Note, type Said } from './engine.ts'
import { Ledger } from './ledger.ts'
import { balancesOf, checkBooks, checkEnd, fingerprint } from './rules.ts'

const whole = 100n

/** Reads small choices out of one number. */
export class Dice {
  #left: number
  constructor(seed: number) {
    this.#left = seed
  }
  /** 0 to `most - 1`. */
  of(most: number): number {
    const choice = this.#left % most
    this.#left = Math.floor(this.#left / most)
    return choice
  }
  one<Item>(items: readonly Item[]): Item {
    return items[this.of(items.length)]!
  }
}

export class Life {
  readonly engine: Engine
  readonly ledger = new Ledger()

  constructor(note: Note) {
    this.engine = new Engine(note)
  }

  get payments(): readonly Payment[] {
    return this.engine.books.payments
  }

  start(dice: Dice): void {
    const effect: Effect = dice.of(3) === 0 ? 'sale' : 'authorisation'
    const payment = this.engine.begin(effect, whole, null, false)!
    if (effect === 'authorisation' && dice.of(4) === 0)
      payment.chain = { capture: null, release: null }
    this.#send(payment, dice)
  }

  step(dice: Dice): void {
    const what = dice.of(21)
    const payment = dice.one(this.payments)
    if (what < 6) this.#request(payment, dice)
    else if (what < 9) this.#tell(payment, dice.of(3) === 0)
    else if (what === 9) this.#fails(payment, dice.of(3) === 0)
    else if (what === 10) this.#doesAfterAll(payment, dice)
    else if (what === 11) this.#takesBack(payment, dice)
    else if (what === 12) this.#operator(payment, dice)
    else if (what === 13) this.#expires(payment)
    else if (what === 14) this.#chargesBack(payment, dice)
    else if (what === 15) this.#isFinal(payment)
    else if (what === 16) this.#asksBack(payment)
    else if (what === 17) this.#endsRequest(payment, dice)
    else if (what === 18) this.#contradictsReversal(payment)
    else if (what === 19) this.#takesPartBack(payment)
    else this.#thereAndBack(payment, dice)
    this.#answerSteps(dice)
    checkBooks(this.engine.books)
  }

  /** The engine's own steps are sent as soon as they begin. */
  #answerSteps(dice: Dice): void {
    for (const { chain } of this.payments) {
      for (const step of [chain?.capture, chain?.release]) {
        if (step?.state === 'processing' && !this.ledger.facts.has(step)) this.#send(step, dice)
      }
    }
  }

  #request(referenced: Payment, dice: Dice): void {
    const effect = dice.one(followUps[referenced.effect] ?? [])
    if (effect === undefined || this.payments.length > 12) return
    const amount =
      effect === 'void' ? (referenced.own?.sums.captured ?? 0n) : dice.one([40n, 60n, 100n])
    const payment = this.engine.begin(effect, amount, referenced, dice.of(4) === 0)
    if (payment !== undefined) this.#send(payment, dice)
  }

  /** The acquirer completes the operation or not, and answers or not. */
  #send(payment: Payment, dice: Dice): void {
    const { engine, ledger } = this
    const fact = ledger.of(payment)
    switch (dice.of(8)) {
      case 0:
      case 1:
      case 2:
        ledger.does(payment, payment.amount, false)
        engine.settle(payment, { is: 'approved' })
        break
      case 3:
        ledger.does(payment, payment.amount, true)
        engine.settle(payment, { is: 'accepted' })
        break
      case 4:
        engine.settle(payment, { is: 'declined' })
        break
      case 5:
        // The operation is completed, and its answer lost.
        engine.settle(payment, { is: 'unknown' })
        if (dice.of(4) === 0) ledger.does(payment, payment.amount - 10n, false)
        else ledger.does(payment, payment.amount, dice.of(2) === 0)
        return
      case 6:
        engine.settle(payment, { is: 'pending' })
        return
      default:
        engine.settle(payment, { is: 'declined' })
        ledger.does(payment, payment.amount, dice.of(2) === 0)
        return
    }
    fact.isTold = true
  }

  /** The acquirer reports the present state. */
  #tell(payment: Payment, isTwice: boolean): void {
    const { engine, ledger } = this
    const word = ledger.word(payment)
    if (payment.isReversing) {
      // Only the end of the reversal decides, or the proof that nothing moved.
      if (engine.treatment(payment, word) === 'settle') engine.settle(payment, word)
    } else if (isOpen(payment.state)) {
      const treatment = engine.treatment(payment, word)
      // An operation of another amount is undone by its key.
      if (treatment === 'enquire') ledger.undoes(payment)
      engine.settle(payment, treatment === 'enquire' ? { is: 'declined' } : word)
    } else {
      engine.hear(payment, word)
    }
    ledger.of(payment).isTold = true
    if (!isTwice || isOpen(payment.state)) return
    const before = fingerprint(engine.books)
    engine.hear(payment, ledger.word(payment))
    assert.equal(fingerprint(engine.books), before, 'the repeated word changes something')
  }

  /**
   * An accepted operation fails, or a final sale is returned; also during its reversal. Or the
   * acquirer takes it back by its key.
   */
  #fails(payment: Payment, isByKey: boolean): void {
    const counts = payment.state === 'approved' || payment.attempt === 'late'
    const { did, mayFail, isTold } = this.ledger.of(payment)
    if (!did || !counts) return
    this.ledger.undoes(payment)
    if (isByKey) {
      this.#hearTwice(payment, { is: 'reversed' })
      return
    }
    this.#tell(payment, true)
    if (mayFail && isTold)
      assert.notEqual(payment.attempt, 'late', 'the payment failed, and is still late')
  }

  /** An accepted operation is confirmed. */
  #isFinal(payment: Payment): void {
    const fact = this.ledger.of(payment)
    if (!fact.did || isOpen(payment.state)) return
    fact.mayFail = false
    this.#tell(payment, true)
  }

  /** A declined or expired operation succeeds late. */
  #doesAfterAll(payment: Payment, dice: Dice): void {
    const isOver = payment.state === 'declined' || payment.state === 'expired'
    if (!isOver || payment.attempt === 'late' || this.ledger.of(payment).did) return
    this.ledger.does(payment, payment.amount, dice.of(2) === 0)
    this.#tell(payment, true)
  }

  /** A word about a decided payment; its repeat changes nothing. */
  #hearTwice(payment: Payment, word: Said): void {
    const { engine, ledger } = this
    engine.hear(payment, word)
    ledger.of(payment).isTold = true
    const before = fingerprint(engine.books)
    engine.hear(payment, word)
    assert.equal(fingerprint(engine.books), before, `the repeated ${word.is} changes something`)
  }

  /** The acquirer takes the reversal of an open payment. */
  #asksBack(payment: Payment): void {
    const isFound = isOpen(payment.state) && payment.state !== 'processing'
    if (!isFound || payment.isReversing) return
    this.ledger.of(payment).isRequested = true
    this.engine.requestBack(payment)
  }

  /** A requested reversal is carried out, or fails: the operation stands. */
  #endsRequest(payment: Payment, dice: Dice): void {
    if (!payment.isReversing) return
    const { engine, ledger } = this
    const isUndone = dice.of(2) === 0
    if (isUndone) ledger.undoes(payment)
    else this.#stands(payment)
    const word: Said = { is: isUndone ? 'reversed' : 'notReversed' }
    const treatment = engine.treatment(payment, word)
    assert.equal(treatment, isUndone ? 'settle' : 'stand')
    engine.settle(payment, word)
    this.#hearTwice(payment, word)
  }

  /** The acquirer says that a reversal failed after all, of a payment that is over. */
  #contradictsReversal(payment: Payment): void {
    const isOver = !isOpen(payment.state) && payment.state !== 'approved'
    if (!isOver || !this.ledger.of(payment).isRequested) return
    this.#stands(payment)
    this.#hearTwice(payment, { is: 'notReversed' })
  }

  #stands(payment: Payment): void {
    const { did, minor } = this.ledger.of(payment)
    this.ledger.does(payment, did ? minor : payment.amount, false)
  }

  /** The acquirer takes a part of a decided operation back, which nobody asked for. */
  #takesPartBack(payment: Payment): void {
    const counts = payment.state === 'approved' || payment.attempt === 'late'
    const { did, minor } = this.ledger.of(payment)
    if (!counts || !did || minor !== payment.amount || minor <= 10n) return
    this.ledger.does(payment, minor - 10n, false)
    this.#hearTwice(payment, { is: 'reversed', minor: 10n })
  }

  /** The engine requests the reversal of a late success: done, unknown, or refused. */
  #takesBack(payment: Payment, dice: Dice): void {
    const { engine, ledger } = this
    if (payment.attempt !== 'late' || cannotBeUndone.has(payment.effect)) return
    switch (dice.of(4)) {
      case 0:
        ledger.undoes(payment)
        ledger.of(payment).isTold = true
        engine.endLate(payment)
        return
      case 1: {
        // The engine reverses a payment once.
        if (payment.undo !== null) return
        payment.undo = engine.books.add('undo', payment.amount, null, payment, false)
        const mayFail = dice.of(2) === 0
        engine.settle(payment.undo, { is: mayFail ? 'accepted' : 'approved' })
        ledger.does(payment.undo, payment.amount, mayFail)
        ledger.of(payment.undo).isTold = true
        ledger.undoes(payment)
        ledger.of(payment).isTold = true
        engine.endLate(payment)
        return
      }
      default:
    }
  }

  /** An operator keeps the money of a late success, or returns it by hand. */
  #operator(payment: Payment, dice: Dice): void {
    if (payment.attempt !== 'late') return
    // An operation of another amount is returned; a completed reversal can only be kept.
    const isOther = this.ledger.of(payment).minor !== payment.amount
    const { did } = this.ledger.of(payment)
    if ((dice.of(2) === 0 && did && !isOther) || cannotBeUndone.has(payment.effect)) {
      this.engine.keepLate(payment)
      return
    }
    this.ledger.undoes(payment)
    this.ledger.of(payment).isTold = true
    this.engine.endLate(payment)
  }

  #expires(payment: Payment): void {
    if (payment.state !== 'pending') return
    this.ledger.undoes(payment)
    this.ledger.of(payment).isTold = true
    this.engine.expire(payment)
  }

  #chargesBack(payment: Payment, dice: Dice): void {
    const fact = this.ledger.of(payment)
    if (payment.effect !== 'sale' && payment.effect !== 'capture') return
    if (isOpen(payment.state) || !fact.did) return
    const minor = dice.one([30n, 100n])
    if (dice.of(2) === 0) {
      fact.chargedBack += minor
      this.engine.chargeBack(payment, minor)
    } else if (fact.chargedBack > 0n) {
      fact.chargedBack -= minor < fact.chargedBack ? minor : fact.chargedBack
      this.engine.reverseChargeback(payment, minor)
    }
  }

  /** A move and its inverse leave every balance unchanged. */
  #thereAndBack(payment: Payment, dice: Dice): void {
    const { engine } = this
    const before = balancesOf(engine.books)
    if (
      payment.state === 'declined' &&
      payment.attempt === 'declined' &&
      payment.effect !== 'undo'
    ) {
      engine.hear(payment, { is: dice.of(2) === 0 ? 'approved' : 'accepted' })
      engine.endLate(payment)
    } else if (payment.state === 'approved' && payment.finalBy !== null && payment.chain === null) {
      if (payment.effect === 'undo' || payment.referenced?.chain != null) return
      engine.hear(payment, { is: 'declined' })
      engine.hear(payment, { is: 'approved' })
      engine.keepLate(payment)
      payment.finalBy = 'event'
    } else return
    assert.equal(
      balancesOf(engine.books),
      before,
      `there and back: ${payment.effect} ${payment.no}`,
    )
  }

  /** Reports everything, decides every late success, closes every entry. */
  end(dice: Dice): void {
    const { engine, ledger } = this
    for (let no = 0; no < 20; no += 1) {
      this.#answerSteps(dice)
      for (const payment of this.payments) {
        if (payment.isReversing) this.#endsRequest(payment, dice)
        if (isOpen(payment.state) || !ledger.of(payment).isTold) this.#tell(payment, false)
        if (payment.attempt === 'late') this.#operator(payment, dice)
      }
    }
    for (const entry of engine.books.entries) if (entry.isOpen) engine.books.end(entry)
    checkBooks(engine.books)
    checkEnd(engine.books, ledger)
  }
}

const followUps: { readonly [effect in Effect]?: readonly Effect[] } = {
  authorisation: ['capture', 'capture', 'release', 'increase', 'replacement'],
  increase: ['capture'],
  replacement: ['capture', 'release', 'increase', 'replacement'],
  sale: ['refund', 'refund', 'void'],
  capture: ['refund', 'void'],
}
