/** `npm run attacks`: hostile input against a running Tollgate, measured. */
import { parseArgs } from 'node:util'
import { type AttackRun, carryOut, type Profile, type Report } from './attack.ts'
import { attacks } from './attacks.ts'
import { layGround } from './ground.ts'
import { Random } from './random.ts'

const help = `npm run attacks [-- options]

  --profile short|full  short is part of the long tests, full sends more than a million bodies (full)
  --only a,b            only these attacks
  --seed 1              the same seed makes the same inputs
  --minutes 10          longest time of an attack that counts by time

  ${attacks.map(({ name, title }) => `${name.padEnd(12)} ${title}`).join('\n  ')}
`

const { values } = parseArgs({
  options: {
    profile: { type: 'string', default: 'full' },
    only: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    help: { type: 'boolean', default: false },
  },
})

function wrongOptions(): string | undefined {
  const known = attacks.map(({ name }) => name)
  const stranger = values.only.split(',').find((name) => name !== '' && !known.includes(name))
  if (stranger !== undefined) return `there is no attack "${stranger}", only ${known.join(', ')}`
  if (values.profile !== 'short' && values.profile !== 'full') return '--profile is short or full'
  if (!/^\d+$/.test(values.seed)) return '--seed is a number'
  if (!(Number(values.minutes) > 0)) return '--minutes is a number above 0'
  return undefined
}

/** One line for each attack, followed by the findings. */
function print({ name, counts, findings, tookMs }: Report): void {
  const told = Object.entries(counts).map(([what, count]) => `${what} ${count}`)
  const sign = findings.length === 0 ? '✔' : '✖'
  console.log(`${sign} ${name} (${(tookMs / 1000).toFixed(1)} s): ${told.join(', ')}`)
  for (const { what, reproduction, times } of findings) {
    console.log(`  finding: ${what}${times > 1 ? `, ${times} times` : ''}`)
    console.log(reproduction.replaceAll(/^/gm, '    '))
  }
}

async function main(): Promise<number> {
  const profile = values.profile as Profile
  const wanted = values.only.split(',').filter((name) => name !== '')
  const chosen = attacks.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
  const ground = await layGround()
  process.once('SIGINT', () => ground.close().finally(() => process.exit(130)))
  const reports: Report[] = []
  try {
    console.log(`seed ${values.seed}, profile ${profile}, Node ${process.version}`)
    for (const attack of chosen) {
      const given: Omit<AttackRun, 'find'> = {
        ground,
        profile,
        random: new Random(`${values.seed} ${attack.name}`),
        forMs: Number(values.minutes) * 60_000,
      }
      const report = await carryOut(attack, given)
      reports.push(report)
      print(report)
    }
  } finally {
    await ground.close()
  }
  const found = reports.reduce((sum, { findings }) => sum + findings.length, 0)
  console.log(`${reports.length} attacks, ${found} findings`)
  return found === 0 ? 0 : 1
}

const wrong = wrongOptions()
if (values.help) console.log(help)
else if (wrong !== undefined) {
  console.error(wrong)
  process.exitCode = 2
} else process.exitCode = await main()
