/** Open payments of the simulator inside the process, as its bank's page sees them. */
import type { Records } from '@tollgate/plugin-kit'
import { decideKept, keeperOf } from '../keep.ts'
import { entryOf, finish, type Ledger } from '../ledger.ts'
import type { Payments } from './bank.ts'

export const paymentsIn = (ledger: Ledger, records: Records): Payments => ({
  async find({ key }) {
    await keeperOf(ledger, records).load(key)
    const entry = entryOf(ledger, key)
    return entry && { amount: entry.amount, isOpen: entry.state === 'pending' }
  },
  async finish({ key }, code) {
    await decideKept(ledger, [key], { records }, () => {
      // A page has no business time. The acquirer's next answer closes a payment that is overdue,
      // so one that is still open has time.
      const openedAt = entryOf(ledger, key)?.history.at(-1)?.at ?? 0
      return finish(ledger, key, code, openedAt)
    })
  },
})
