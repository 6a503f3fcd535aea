/** The acquirer's next change of an operation in its books. */
import { type amountAs, carryOut, type Entry, isSale, stands } from './books.ts'
import type { Turn } from './command.ts'

/** The acquirer's change, if its books allow it. */
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
      // The operation was refused before, so this is its only execution.
      entry.times = 0
      carryOut(entry, amount, 'done')
      return
    case 'takes it back':
      if (entry.reversal !== 'requested') return
      entry.reversal = 'done'
      entry.state = 'taken back'
      return
    case 'cannot take it back':
      if (entry.reversal === 'requested') entry.reversal = 'failed'
      return
    case 'repeats itself':
      return
  }
}
