/** The seeded fault run: see `--help`. */
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { InterruptedError, interruption } from './interrupted.ts'
import { tryMutants } from './mutants.ts'
import { missingPrograms } from './patroni.ts'
import { planOf, shown } from './plan.ts'
import { profiles } from './profiles.ts'
import { summary } from './report.ts'
import { runFaults } from './run.ts'

const usage = `The seeded fault run: everything goes wrong, and what is promised must hold.

npm run faults                                    about a minute, another seed each time
npm run faults -- --seed 4                        the same faults again
npm run faults -- --profile full --seed 7         half an hour, every kind of fault; a quiet machine
npm run faults -- --profile failover              a minute: the primary dies, its synchronous standby takes over
npm run faults -- --profile failover-asynchronous a minute: the same with one that is behind; the loss is counted
npm run faults -- --profile patroni               eight minutes: the leader of a Patroni cluster dies, hands over, stands still, loses its standbys and etcd
npm run faults -- --profile patroni-short         two and a half minutes: it dies and hands over
npm run faults -- --profile patroni-strict        six minutes: the same where no commit is acknowledged without a standby
npm run faults -- --profile patroni-keeps         four minutes: the same behind a proxy that keeps connections to a former leader
npm run faults -- --profile patroni-asynchronous  six minutes: the same without synchronous standbys; the loss is counted
npm run faults -- --minutes 5 --merchants 32      another length, another load
npm run faults -- --profile full --seed 7 --plan  what that seed would do, without doing it
npm run faults -- --mutants                       each assertion is proven able to fail: 60 runs of 20 s, 60 s at most
npm run faults -- --mutants chargeback            those about chargebacks

Exit code 1: something was violated, or a run fell short of its goal. 2: the options are wrong.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string' },
    profile: { type: 'string', default: 'short' },
    merchants: { type: 'string' },
    plan: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const seed = numberOf(values.seed, 'seed') ?? Date.now() % 1_000_000
const say = (line: string) => console.log(line)

function numberOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (Number.isFinite(number) && number >= 0) return number
  console.error(`--${name} must be a number`)
  process.exit(2)
}

async function run(): Promise<number> {
  const known = profiles[values.profile]
  if (known === undefined) {
    console.error(`--profile must be one of ${Object.keys(profiles).join(', ')}`)
    return 2
  }
  const profile = {
    ...known,
    minutes: numberOf(values.minutes, 'minutes') ?? known.minutes,
    merchants: numberOf(values.merchants, 'merchants') ?? known.merchants,
  }
  const { gapMs, only } = profile
  const plan = planOf({
    seed,
    forMs: profile.minutes * 60_000,
    gapMs,
    ...(only === undefined ? {} : { only }),
    leaderFaults: profile.patroni?.faults,
  })
  if (values.plan) {
    for (const planned of plan) say(shown(planned))
    return 0
  }
  say(
    `${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`,
  )
  const missing = profile.patroni !== undefined ? missingPrograms() : undefined
  if (missing !== undefined) {
    say(`skipped: this machine has no Patroni cluster; ${missing}`)
    return 0
  }
  const report = await runFaults({ seed, profile, say, interrupted: interruption(say) })
  for (const line of summary(report)) say(line)
  if (profile.isAboutLoss === true) {
    say('An asynchronous standby promises nothing about the last commits. What they cost here:')
    for (const [assertion, count] of Object.entries(report.counts)) say(`  ${assertion}: ${count}`)
    return report.shortcomings.length === 0 ? 0 : 1
  }
  for (const shortcoming of report.shortcomings) say(`SHORT OF ITS GOAL: ${shortcoming}`)
  const failed = report.violations.length + report.shortcomings.length > 0
  if (failed)
    say(`The same faults again: npm run faults -- --profile ${profile.name} --seed ${seed}`)
  say(failed ? `${report.violations.length} violations` : 'every assertion holds')
  return failed ? 1 : 0
}

async function proveAssertions(): Promise<number> {
  const missed = await tryMutants(seed, say, positionals, interruption(say))
  say(missed === 0 ? 'every mistake was noticed' : `${missed} mistakes were not noticed`)
  return missed === 0 ? 0 : 1
}

if (values.help) say(usage)
else await end()

async function end(): Promise<void> {
  try {
    process.exitCode = values.mutants ? await proveAssertions() : await run()
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error
    // Timers of the interrupted merchants would keep the process.
    process.exit(130)
  }
}
