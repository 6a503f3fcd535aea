/** What the acquirer does next with something in its books. */
import { type amountAs, carryOut, type Entry, isSale, stands } from './books.ts'
import type { Turn } from './command.ts'

/** The acquirer moves on, where its books allow that. */
export function takeTurn(entry: Entry, turn: Turn, amount: Parameters<typeof amountAs>[1]): void {
  switch (turn) {
    case 'completes':
      if (entry.state === 'pending') carryOut(entry, amount, 'done')
      return
    case 'abandons':
      if (entry.state === 'pending') entry.state = 'declined'
      return
    case 'confirms':
      if (entry.state === 'accepted') entry.state = 'done'
      return
    case 'fails':
      if (entry.state !== 'accepted') return
      entry.state = 'failed'
      entry.hasFailed = true
      return
    case 'returns':
      if (entry.state === 'done' && isSale(entry)) entry.state = 'returned'
      return
    case 'does it after all':
      if (entry.isHarmless || stands(entry) || entry.state === 'taken back') return
      if (entry.state === 'returned' || entry.state === 'pending') return
      // It was refused before: that it was done is the only time.
      entry.times = 0
      carryOut(entry, amount, 'done')
      return
    case 'repeats itself':
      return
  }
}
