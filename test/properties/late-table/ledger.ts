/** The acquirer's real operations, whatever it reported: the rules judge by this account. */
import type { Payment } from './books.ts'
import type { Said } from './engine.ts'

export type Fact = {
  did: boolean
  minor: bigint
  /** Whether the operation can still fail at the acquirer. */
  mayFail: boolean
  /** Whether the engine knows the present state. */
  isTold: boolean
  /** Whether the acquirer took a reversal by its key. */
  isRequested: boolean
  /** The amount charged back, less the amount returned. */
  chargedBack: bigint
}

export class Ledger {
  readonly facts = new Map<Payment, Fact>()

  of(payment: Payment): Fact {
    let fact = this.facts.get(payment)
    if (fact === undefined) {
      fact = {
        did: false,
        minor: payment.amount,
        mayFail: false,
        isTold: false,
        isRequested: false,
        chargedBack: 0n,
      }
      this.facts.set(payment, fact)
    }
    return fact
  }

  /** The acquirer's answer or event about a payment. */
  word(payment: Payment): Said {
    const { did, minor, mayFail } = this.of(payment)
    if (!did) return { is: 'declined' }
    if (mayFail) return { is: 'accepted' }
    return minor === payment.amount ? { is: 'approved' } : { is: 'approved', minor }
  }

  does(payment: Payment, minor: bigint, mayFail: boolean): void {
    Object.assign(this.of(payment), { did: true, minor, mayFail, isTold: false })
  }

  /** Undoes an operation, or prevents it. */
  undoes(payment: Payment): void {
    Object.assign(this.of(payment), { did: false, mayFail: false, isTold: false })
  }

  /** The amount refunded beyond the charge, or used beyond the authorisation. */
  overrun(payment: Payment, all: readonly Payment[]): bigint {
    const fact = this.of(payment)
    const came = fact.did ? fact.minor : 0n
    if (payment.effect === 'sale' || payment.effect === 'capture') {
      // The reversal of a failed charge returns nothing.
      const went = this.#sum(
        all,
        (one) =>
          one.referenced === payment &&
          (one.effect === 'refund' || (one.effect === 'void' && fact.did)),
      )
      return went + fact.chargedBack - came
    }
    if (payment.effect === 'authorisation' || payment.effect === 'replacement') {
      const more = this.#sum(all, (one) => one.parent === payment && one.effect === 'increase')
      const used = this.#sum(
        all,
        (one) =>
          one.parent === payment &&
          one.effect === 'capture' &&
          !all.some((v) => v.effect === 'void' && v.referenced === one && this.of(v).did),
      )
      return used - came - more
    }
    return 0n
  }

  #sum(all: readonly Payment[], which: (one: Payment) => boolean): bigint {
    let sum = 0n
    for (const one of all) if (which(one) && this.of(one).did) sum += this.of(one).minor
    return sum
  }
}
