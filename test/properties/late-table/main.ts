/**
 * Random lives of payments through the table of late words.
 *
 *   npm run late-table -- --sequences 1000000
 *   npm run late-table -- --sequences 1000 --seed 42
 */
import { parseArgs } from 'node:util'
import { liveMany } from './lives.ts'

const { values } = parseArgs({
  options: {
    sequences: { type: 'string', default: '100000' },
    seed: { type: 'string' },
    /** The combined run selects this part by name. */
    table: { type: 'boolean' },
  },
})
const sequences = Number(values.sequences)
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed)
if (!Number.isSafeInteger(sequences) || sequences < 1 || !Number.isSafeInteger(seed))
  throw new Error('--sequences and --seed are whole numbers')
const since = performance.now()
console.log(`${sequences} sequences, seed ${seed}`)
liveMany(sequences, seed)
console.log(`no rule was broken (${Math.round((performance.now() - since) / 1000)} s)`)
