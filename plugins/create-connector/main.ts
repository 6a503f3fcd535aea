/** The command: flags, and a question for each that is missing. */
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { type Choices, type Part, parts, unfitName, type Wire, wires } from './choices.ts'
import { createConnector, takenFolder } from './create.ts'

const help = `npm create tollgate-connector <name> -- [options]

  --wire json|xml|form               how requests and answers are written
  --token, --no-token                ${parts.token}
  --redirect, --no-redirect          ${parts.redirect}
  --events, --no-events              ${parts.events}
  --settlement, --no-settlement      ${parts.settlement}

Without an option, the command asks. npx takes the options without "--":
npx create-tollgate-connector <name> [options]
`

/** From files beside the package, as the guide packs them. Without --no-save, npm would write their paths into the manifest. */
const install =
  'npm install --no-save ../packages/tollgate-schemas-*.tgz ../packages/tollgate-plugin-kit-*.tgz'

type Option = 'name' | 'wire' | Part

/** In the order of their questions. */
const flags: Readonly<Record<Option, string>> = {
  name: '<name>',
  wire: `--wire ${wires.join('|')}`,
  token: '--token or --no-token',
  redirect: '--redirect or --no-redirect',
  events: '--events or --no-events',
  settlement: '--settlement or --no-settlement',
}

type Ask = (question: string) => Promise<string>

/** Sets the exit code. */
export async function main(words: readonly string[]): Promise<void> {
  try {
    await run(words)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}

async function run(words: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    allowNegative: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      name: { type: 'string' },
      wire: { type: 'string' },
      token: { type: 'boolean' },
      redirect: { type: 'boolean' },
      events: { type: 'boolean' },
      settlement: { type: 'boolean' },
    },
  })
  if (values.help === true) {
    process.stdout.write(help)
    return
  }
  const [first, ...more] = positionals
  if (more.length > 0) throw new Error(`one name is enough, without ${more.join(' ')}`)
  const given = { ...values, name: values.name ?? first }
  const asking = questions()
  const askFor =
    (option: Option): Ask =>
    async (question) =>
      (await asking.ask(question)) ?? refuseWithout(option, given)
  try {
    const unfit = (name: string) => unfitName(name) ?? takenFolder(name, process.cwd())
    const what = `Wire of the acquirer (${wires.join(', ')})`
    const choices: Choices = {
      name: await valid(given.name, 'Name of the connector (north-bank)', unfit, askFor('name')),
      wire: (await valid(given.wire, what, unfitWire, askFor('wire'))) as Wire,
      parts: await partsIn(given, askFor),
    }
    const folder = createConnector(choices, process.cwd())
    process.stdout.write(
      `\n${folder} is ready. Next:\n\n  cd ${basename(folder)}\n  ${install}\n  npm test\n\nOnce the packages are on the registry, "npm install" is enough.\nThe README.md lists the decisions that are yours.\n`,
    )
  } finally {
    asking.close()
  }
}

/** Nobody is there to answer: all that is missing from this option on, at once. */
function refuseWithout(option: Option, given: { readonly [Name in Option]?: unknown }): never {
  const all = Object.keys(flags) as Option[]
  const missing = all.slice(all.indexOf(option)).filter((name) => given[name] === undefined)
  const named = missing.map((name) => flags[name]).join(', ')
  throw new Error(`missing: ${named}; --help lists the options`)
}

const unfitWire = (wire: string): string | undefined =>
  wires.includes(wire as Wire) ? undefined : `the wire is one of ${wires.join(', ')}`

/** A wrong flag is an error; a wrong answer is asked for again. */
async function valid(
  given: string | undefined,
  question: string,
  unfit: (value: string) => string | undefined,
  ask: Ask,
): Promise<string> {
  if (given !== undefined) {
    const why = unfit(given)
    if (why === undefined) return given
    throw new Error(why)
  }
  for (;;) {
    const value = (await ask(`${question}: `)).trim()
    const why = unfit(value)
    if (why === undefined) return value
    process.stdout.write(`${why}\n`)
  }
}

async function partsIn(
  values: { readonly [Name in Part]?: boolean | undefined },
  askFor: (part: Part) => Ask,
): Promise<ReadonlySet<Part>> {
  const chosen = new Set<Part>()
  for (const part of Object.keys(parts) as Part[]) {
    const isYes = values[part] ?? /^y/i.test((await askFor(part)(`${parts[part]} (y/N) `)).trim())
    if (isYes) chosen.add(part)
  }
  return chosen
}

/** Questions on standard output, opened by the first one. Answers may come through a pipe; undefined: it ended. */
function questions(): { ask(question: string): Promise<string | undefined>; close(): void } {
  let lines: AsyncIterator<string> | undefined
  let close = () => {}
  return {
    async ask(question) {
      if (lines === undefined) {
        const opened = createInterface({ input: process.stdin })
        lines = opened[Symbol.asyncIterator]()
        close = () => opened.close()
      }
      process.stdout.write(question)
      const { done, value } = await lines.next()
      return done === true ? undefined : value
    },
    close: () => close(),
  }
}
