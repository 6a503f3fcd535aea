/**
 * Measures what the channels of the engine cost: with nobody listening, with a listener, and without them.
 * `node --conditions=@tollgate/source test/bench/telemetry.ts`
 */
import { tracingChannel } from 'node:diagnostics_channel'
import type { Channels } from '@tollgate/plugin-kit'
import { Telling } from '../../core/telemetry.ts'

const name = 'tollgate:first-commit'
const telling = new Telling(name)
const payment = { id: 'a'.repeat(32), paymentType: 'DB', connector: 'simulator' }

/** As short as work in the engine gets: real work waits for the database, a thousand times longer. */
const work = async () => payment
const about = () => ({
  engine: 'bench',
  paymentId: payment.id,
  paymentType: payment.paymentType,
  connector: payment.connector,
})

const calls = 200_000
const rounds = 21

/** Median in nanoseconds per call, of rounds that take turns so that a busy machine disturbs all alike. */
async function compare(
  contestants: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<Readonly<Record<string, number>>> {
  const taken: Record<string, number[]> = {}
  for (let round = 0; round < rounds; round += 1) {
    for (const [title, run] of Object.entries(contestants)) {
      const begun = performance.now()
      for (let call = 0; call < calls; call += 1) await run()
      const each = ((performance.now() - begun) * 1e6) / calls
      taken[title] = [...(taken[title] ?? []), each]
    }
  }
  return Object.fromEntries(
    Object.entries(taken).map(([title, all]) => [
      title,
      all.toSorted((one, other) => one - other)[Math.floor(rounds / 2)]!,
    ]),
  )
}

const print = (title: string, ns: number) =>
  console.log(`${title.padEnd(44)}${ns.toFixed(0).padStart(8)} ns`)

const silent = await compare({
  'without a channel': work,
  'a channel, nobody listens': () => telling.run(work, { about }),
})
for (const [title, ns] of Object.entries(silent)) print(title, ns)

const { asyncEnd } = tracingChannel<unknown, Channels[typeof name]>(name)
let heard = 0
const listener = () => {
  heard += 1
}
asyncEnd.subscribe(listener)
const heardTimes = await compare({ 'a channel, one listener': () => telling.run(work, { about }) })
asyncEnd.unsubscribe(listener)
for (const [title, ns] of Object.entries(heardTimes)) print(title, ns)
if (heard !== rounds * calls) throw new Error(`the listener heard ${heard} calls`)

const cost = silent['a channel, nobody listens']! - silent['without a channel']!
console.log(
  `\nA payment has three of them. With nobody listening they cost ${((3 * cost) / 1000).toFixed(2)} µs; below zero is noise.`,
)
