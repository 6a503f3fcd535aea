/** What the acquirer really did, whatever it said about it: an account of its own, from which the rules judge. */
import type { Payment } from './books.ts'
import type { Said } from './engine.ts'

export type Fact = {
  did: boolean
  minor: bigint
  /** It may still fail there. */
  mayFail: boolean
  /** The engine has been told what is so now. */
  isTold: boolean
  /** Money that the payer's bank took back, less what it gave again. */
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
        chargedBack: 0n,
      }
      this.facts.set(payment, fact)
    }
    return fact
  }

  /** What it says when it is asked, or by itself. */
  word(payment: Payment): Said {
    const { did, minor, mayFail } = this.of(payment)
    if (!did) return { is: 'declined' }
    if (mayFail) return { is: 'accepted' }
    return minor === payment.amount ? { is: 'approved' } : { is: 'approved', minor }
  }

  does(payment: Payment, minor: bigint, mayFail: boolean): void {
    Object.assign(this.of(payment), { did: true, minor, mayFail, isTold: false })
  }

  /** It is undone, or never came to be. */
  undoes(payment: Payment): void {
    Object.assign(this.of(payment), { did: false, mayFail: false, isTold: false })
  }

  /** How much more of a payment went out than came in, or was used of it than was authorised. */
  overrun(payment: Payment, all: readonly Payment[]): bigint {
    const fact = this.of(payment)
    const came = fact.did ? fact.minor : 0n
    if (payment.effect === 'sale' || payment.effect === 'capture') {
      // The reversal of what never came in takes nothing out.
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
