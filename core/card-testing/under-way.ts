/** Attempts of this process that are not decided, by what they have in common. */
import { limits } from '@tollgate/schemas'

type Open = { readonly name: string; readonly untilMs: number }

export class UnderWay {
  readonly #sent = new Map<string, number>()
  /** By payment, in the order in which they will be given up. */
  readonly #open = new Map<string, Open>()
  readonly #openOf = new Map<string, number>()

  begin(name: string): void {
    this.#sent.set(name, this.sent(name) + 1)
  }

  end(name: string): void {
    less(this.#sent, name)
  }

  sent(name: string): number {
    return this.#sent.get(name) ?? 0
  }

  open(name: string): number {
    return this.#openOf.get(name) ?? 0
  }

  /** It is over here, and the acquirer decides later; perhaps another process hears of it. */
  hold(paymentId: string, name: string, nowMs: number): void {
    if (this.#open.has(paymentId)) return
    this.#open.set(paymentId, { name, untilMs: nowMs + limits.cardTestingOpenMs })
    this.#openOf.set(name, this.open(name) + 1)
    if (this.#open.size > limits.cardTestingKeys) this.decided(this.#open.keys().next().value!)
  }

  decided(paymentId: string): void {
    const held = this.#open.get(paymentId)
    if (held === undefined) return
    this.#open.delete(paymentId)
    less(this.#openOf, held.name)
  }

  giveUp(nowMs: number): void {
    for (const [paymentId, { untilMs }] of this.#open) {
      if (untilMs > nowMs) return
      this.decided(paymentId)
    }
  }
}

function less(counts: Map<string, number>, name: string): void {
  const left = (counts.get(name) ?? 1) - 1
  if (left === 0) counts.delete(name)
  else counts.set(name, left)
}
