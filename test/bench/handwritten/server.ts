/**
 * A good developer's implementation without Tollgate: an Express handler on a pool of connections.
 * It keeps the same facts in the same two commits around the acquirer's call, and nothing more: no
 * repeats, no follow-ups, no enquiries, one acquirer, 9 parameters instead of 700.
 */
import { openPool } from './database.ts'
import { charge, newId } from './payment.ts'
import { serve } from './serve.ts'
import { statements } from './statements.ts'
import { transactions } from './transactions.ts'

const pool = await openPool()
const store = process.env.BENCH_STORE === 'statements' ? statements(pool) : transactions(pool)

serve({
  async pay(payment) {
    await store.accept(payment)
    const verdict = await charge(payment)
    await store.settle(payment, verdict, newId())
    return verdict
  },
  close: () => pool.end(),
})
