/** Memory of a process that takes payments for a long time: it has to stay level. */
import type { Contestant } from './contestants.ts'
import { residentBytes } from './processor-time.ts'

const steps = 10
const stepMs = 10_000
const concurrent = 32

export async function watchMemory(contestant: Contestant): Promise<void> {
  console.log(`\nMemory of (${contestant.letter}) ${contestant.title}, ${concurrent} concurrent`)
  let payments = 0
  for (let step = 0; step < steps; step += 1) {
    const load = await contestant.run(concurrent, stepMs)
    payments += load.payments
    const megabytes = (residentBytes(contestant.pid) / 2 ** 20).toFixed(0)
    console.log(
      `${String(payments).padStart(12)} payments since the rounds${megabytes.padStart(8)} MB`,
    )
  }
}
