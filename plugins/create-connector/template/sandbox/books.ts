/** The books of the sandbox: what Acme Bank carried out, once for each key. */
import type { Money } from '@tollgate/plugin-kit'

export type Order = {
  readonly key: string
  readonly type: string
  readonly amount: Money
  /** The whole request, to recognise another one with the same key. */
  readonly fields: Readonly<Record<string, string>>
}

export type Entry = Order & {
  readonly id: string
  readonly original: Entry | undefined
  code: string
  /** Waits for the shopper. */
  isOpen: boolean
}

// DECIDE(test data): the acquirer's own test cards.
export const cards = {
  approved: '4200000000000000',
  declined: '4000000000000002',
  redirect: '4000002500003155',
}

/** What each follow-up builds on. */
const originals: Readonly<Record<string, readonly string[]>> = {
  capture: ['authorisation'],
  refund: ['sale', 'capture'],
  cancellation: ['authorisation', 'sale', 'capture'],
}

export class Books {
  readonly entries = new Map<string, Entry>()
  readonly #blocked = new Set<string>()

  /** @returns the entry, or the code of a refusal. */
  carryOut(order: Order): Entry | string {
    const known = this.entries.get(order.key)
    if (known !== undefined) {
      return JSON.stringify(known.fields) === JSON.stringify(order.fields) ? known : '94'
    }
    if (this.#blocked.has(order.key)) return '12'
    const original = [...this.entries.values()].find(({ id }) => id === order.fields.original)
    const isFirst = order.type === 'sale' || order.type === 'authorisation'
    const number = order.fields.cardNumber
    const isOpen = isFirst && number === cards.redirect
    const code = isOpen ? '' : isFirst ? firstCode(number) : this.#followUpCode(order, original)
    const id = `T${this.entries.size + 1000}`
    const entry: Entry = { ...order, id, original, code, isOpen }
    this.entries.set(order.key, entry)
    return entry
  }

  #followUpCode({ type, amount }: Order, original: Entry | undefined): string {
    const fits = original !== undefined && originals[type]?.includes(original.type) === true
    if (!fits || original.code !== '00') return '12'
    const before = [...this.entries.values()].filter(
      (entry) => entry.original === original && entry.type === type && entry.code === '00',
    )
    const sum = before.reduce((total, entry) => total + entry.amount.minor, amount.minor)
    const isOther = amount.currency !== original.amount.currency
    return isOther || sum > original.amount.minor ? '13' : '00'
  }

  /** Undoes the order of a key, and blocks the key. */
  undo(key: string): 'reversed' | 'blocked' {
    this.#blocked.add(key)
    const entry = this.entries.get(key)
    if (entry === undefined) return 'blocked'
    const wasDone = entry.code === '00' || entry.code === undone
    entry.isOpen = false
    entry.code = wasDone ? undone : entry.code || undone
    return wasDone ? 'reversed' : 'blocked'
  }

  /** Ends the wait for a shopper. */
  decide(id: string, code: string): Entry | undefined {
    const entry = [...this.entries.values()].find((one) => one.id === id && one.isOpen)
    if (entry === undefined) return undefined
    entry.isOpen = false
    entry.code = code
    return entry
  }
}

/** "17: undone by the merchant" */
const undone = '17'

const firstCode = (number: string | undefined): string => (number === cards.approved ? '00' : '05')
