/** The long run of the late words: see `--help`. */
import { parseArgs } from 'node:util'
import type { Happening } from './merchant.ts'
import { profiles } from './profiles.ts'
import { playAll, shownViolation, sumOf, type Violation, withDeaths } from './runner.ts'
import { mixed, sampled, withCuts } from './sequences.ts'
import { shortest } from './shortest.ts'

const { values } = parseArgs({
  options: {
    sequences: { type: 'string', default: '2000' },
    seed: { type: 'string' },
    profile: { type: 'string', default: 'mixed' },
    worlds: { type: 'string', default: '2' },
    size: { type: 'string', default: '500' },
    cuts: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: true },
    rule: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
  allowNegative: true,
})

const usage = `Late words: random sequences of requests, crashes and words of the acquirer, held against its books.

npm run late-words                                2,000 sequences, another seed each time
npm run late-words -- --sequences 50000           so many
npm run late-words -- --seed 4                    the same sequences again
npm run late-words -- --profile double-refund     one kind of trouble: ${Object.keys(profiles).join(', ')}
npm run late-words -- --cuts                      answers of commits are lost as well
npm run late-words -- --worlds 3 --size 400       databases side by side, sequences on each
npm run late-words -- --no-shrink                 as found, without looking for shorter ones
npm run late-words -- --rule 5                    only rules whose name begins so

Exit code 1: a rule was broken.`

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage)
    return 0
  }
  const chosen = { mixed, ...profiles }[values.profile]
  if (chosen === undefined) {
    console.error(`--profile must be mixed or one of ${Object.keys(profiles).join(', ')}`)
    return 2
  }
  const profile = values.cuts ? withCuts(chosen) : chosen
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed)
  const count = Number(values.sequences)
  const size = Math.min(Number(values.size), count)
  const options = { cuts: values.cuts }
  const broken = new Map<string, { times: number; example: Violation }>()
  const sinceMs = performance.now()
  console.log(`seed ${seed}, profile ${values.profile}`)
  const tallies: ReadonlyMap<Happening, number>[] = []
  let begun = 0
  let done = 0
  const world = async () => {
    while (begun < count) {
      const first = begun
      begun += size
      const sequences = sampled(profile, seed + first, Math.min(size, count - first))
      const played = await playAll(sequences, options)
      tallies.push(played.tally)
      for (const violation of played.violations) {
        if (values.rule !== undefined && !violation.rule.startsWith(values.rule)) continue
        const known = broken.get(violation.rule)
        const isShorter =
          known !== undefined &&
          violation.sequence.commands.length < known.example.sequence.commands.length
        // A run that ends before its report has told its first example.
        if (known === undefined) console.log(shownViolation(violation))
        broken.set(violation.rule, {
          times: (known?.times ?? 0) + 1,
          example: known === undefined || isShorter ? violation : known.example,
        })
      }
      done += sequences.length
      const perSecond = Math.round((done / (performance.now() - sinceMs)) * 1000)
      const sum = [...broken.values()].reduce((all, { times }) => all + times, 0)
      console.log(`${done} sequences, ${perSecond} a second, ${sum} violations`)
    }
  }
  await withDeaths(async () => {
    await Promise.all(Array.from({ length: Number(values.worlds) }, world))
    const happened = [...sumOf(tallies)].map(([what, times]) => `${times} ${what}`)
    console.log(happened.join(', '))
    for (const [rule, { times }] of broken) console.log(`${times} times: rule ${rule}`)
    const examples = [...broken.values()].map(({ example }) => example)
    const shown = values.shrink ? await shortest(examples, options) : examples
    for (const violation of shown) console.log(`\n${shownViolation(violation)}`)
  })
  return broken.size === 0 ? 0 : 1
}

process.exitCode = await main()
