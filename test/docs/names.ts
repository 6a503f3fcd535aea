/** Names of the code in the text of a page: those that do not exist are told. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { allCommands } from '../../host/cli.ts'
import { commonOptions } from '../../host/commands/command.ts'
import { describeSettings } from '../../host/index.ts'
import { endpoints, officeEndpoints, operations, results } from '../../schemas/index.ts'
import { root, sources } from '../rig/sources.ts'
import { codeIn, type Page } from './pages.ts'

/** What a page names that does not exist, for each kind of name. */
export type Finder = (page: Page) => readonly string[]

const told = ({ file }: Page, names: readonly string[]) => names.map((name) => `${file}: ${name}`)
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([name]) => name)

/** Variables that are no settings: the token of the command line. Patterns such as `TOLLGATE_…` name none. */
const otherVariables = ['TOLLGATE_TOKEN']
const variables = new Set([...describeSettings().map(({ env }) => env), ...otherVariables])

export const unknownVariables: Finder = (page) =>
  told(
    page,
    matches(page.text, /\bTOLLGATE_[A-Z_]*[A-Z]\b/g).filter((name) => !variables.has(name)),
  )

const commands = await allCommands()
const groups = new Set(commands.map(({ name }) => name.split(' ')[0]!))

/** `tollgate token create --rights read`: the command and its options exist. */
export const unknownCommands: Finder = (page) =>
  told(
    page,
    codeIn(page.text)
      .flatMap((line) => matches(line, /\btollgate [a-z][^#|;&()]*/g))
      .filter((line) => !isCommand(line)),
  )

function isCommand(line: string): boolean {
  const words = line.trim().split(/\s+/).slice(1)
  if (!groups.has(words[0]!)) return false
  const command = commands.find(({ name }) =>
    name.split(' ').every((part, index) => words[index] === part),
  )
  // A page may speak of a whole group, as of `tollgate operator`.
  if (command === undefined) return words.length === 1
  const options = { ...command.options, ...commonOptions }
  return words
    .filter((word) => word.startsWith('--'))
    .every((word) => Object.hasOwn(options, word.slice(2).split('=')[0]!))
}

/** The scripts of the repository, or of a package of it. */
const scriptsOf = (folder = '.'): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')).scripts

export const unknownScripts: Finder = (page) =>
  told(
    page,
    [
      ...page.text.matchAll(/\bnpm run (?:-s )?([a-z-]+)(?: -w ([a-z/-]+))?/g),
      ...page.text.matchAll(/\bnpm (start|test)\b/g),
    ]
      .filter(([, name = '', folder]) => !Object.hasOwn(scriptsOf(folder), name))
      .map(([, name = '']) => name),
  )

const codes = new Set<string>(results.map(([code]) => code))

export const unknownCodes: Finder = (page) =>
  told(
    page,
    codeIn(page.text)
      .flatMap((text) => matches(text, /\b\d{3}\.\d{3}\.\d{3}\b/g))
      .filter((code) => !codes.has(code)),
  )

const paths = new Set(
  [
    ...endpoints.flatMap((one) => [one.path, ...(one.alsoPaths ?? [])]),
    ...officeEndpoints.map((one) => one.path),
  ].map((one) => one.replaceAll(/\{\w+\}/g, '{}')),
)
const requests = new Set(
  [
    ...endpoints.flatMap((one) =>
      [one.path, ...(one.alsoPaths ?? [])].map((path) => `${one.method} ${path}`),
    ),
    ...officeEndpoints.map(({ method, path }) => `${method} ${path}`),
  ].map((one) => one.replaceAll(/\{\w+\}/g, '{}')),
)

/** `GET /v1/payments/{id}`, and paths without a method. */
export const unknownEndpoints: Finder = (page) =>
  told(
    page,
    codeIn(page.text).flatMap((text) => {
      const found = [
        ...text.matchAll(
          /(?:\b(GET|POST|DELETE|PUT|PATCH) )?(?<![a-z])(\/(?:v[0-9]|scheduling|operator)\/[^\s`"'?]*)/g,
        ),
      ]
      return found.flatMap(([whole, method, written]) => {
        const name = written!.replaceAll(/\$\w+|\{\w+\}|<\w+>|0199…/g, '{}').replace(/[…/,.]+$/, '')
        const isPart = [...paths].some((one) => one === name || one.startsWith(`${name}/`))
        const isKnown = method === undefined ? isPart : requests.has(`${method} ${name}`)
        return isKnown ? [] : [whole]
      })
    }),
  )

/**
 * Fields of any operation, without list indexes. A group of fields, such as `cart.items`, is a name too, and
 * so is a member of a record without the name of its list.
 */
const fields = new Set(
  [...operations().values()]
    .flatMap(({ fields: own, tolerated, answers }) => [...own, ...tolerated, ...answers])
    .flatMap(({ name }) => [name, name.replace(/^records\[n\]\./, '')])
    .map((name) => name.replaceAll(/\[[^\]]*\]/g, ''))
    .flatMap((name) =>
      name.split('.').map((_, index, parts) => parts.slice(0, index + 1).join('.')),
    ),
)
const fieldGroups = new Set([...fields].flatMap((name) => name.split('.').slice(0, -1)))
/** Groups whose members are not in the tables: texts of acquirers, and the resource that a notification is about. */
const openGroups = ['resultDetails', 'payload']

/** `card.number`: a dotted name that begins with a group of fields is a field. */
export const unknownFields: Finder = (page) =>
  told(
    page,
    codeIn(page.text)
      .map((text) => /^([a-z]\w*(?:\.\w+)+)(?:=.*)?$/.exec(text)?.[1])
      .filter((name) => name !== undefined)
      .filter((name) => fieldGroups.has(name.split('.')[0]!) && !isOther(name) && !isOpen(name))
      .filter((name) => !fields.has(name)),
  )

const isOpen = (name: string) => openGroups.includes(name.split('.')[0]!)

/** Events, audit actions and files share the form. */
const isOther = (name: string) => events.has(name) || isSource(name)
const isSource = (name: string) => /\.(?:ts|js|mjs|cjs|md|json|csv|sql|yml)$/.test(name)

const engine = sources('core')
const literals = new Set(
  engine.flatMap(({ code }) =>
    [...code.matchAll(/'([a-z]+(?:[.-][a-z-]+)+)'/g)].map(([, name]) => name!),
  ),
)
const events = new Set(
  [...literals].filter((name) =>
    /^(?:payment|registration|schedule|settlement|webhook)\./.test(name),
  ),
)

/** `schedule.missed`: the engine emits the event, or a field has the name. */
export const unknownEvents: Finder = (page) =>
  told(
    page,
    codeIn(page.text)
      .filter((text) => /^(?:payment|registration|schedule|webhook)\.[a-z.-]+$/.test(text))
      .filter((name) => !fields.has(name) && !events.has(name) && !isSource(name)),
  )

/** `gateway.entities.createToken(`: the method exists. */
export const unknownMethods: Finder = (page) =>
  told(
    page,
    codeIn(page.text)
      .flatMap((text) => [...text.matchAll(/\bgateway((?:\.\w+)+)\(/g)].map(([, chain]) => chain!))
      .filter(
        (chain) =>
          !chain
            .slice(1)
            .split('.')
            .every((name) => members.has(name)),
      ),
  )

/** Every member that a class or an object of the engine's own surface declares. */
const members = new Set(
  engine.flatMap(({ code }) => [
    ...[...code.matchAll(/^ {2,4}(?:readonly |async \*?|\*)?(\w+)(?: = |: | ?\(|: \()/gm)].map(
      ([, name]) => name!,
    ),
  ]),
)

const folders = new Set([
  'schemas',
  'plugins',
  'core',
  'connectors',
  'host',
  'test',
  'docs',
  'examples',
])

/** Prose leaves `.ts` out where a file stands for its noun: `core/clock`. */
const isFile = (name: string) =>
  [name, `${name}.ts`].some((one) => existsSync(path.join(root, one)))

/** `core/net/pool.ts`: the file or folder exists. A pattern with a star has at least one match. */
export const unknownFiles: Finder = (page) =>
  told(
    page,
    codeIn(page.text)
      .filter(
        (text) =>
          folders.has(text.split('/')[0]!) && /^[\w./*-]+$/.test(text) && text.includes('/'),
      )
      .filter((text) => !text.includes('*') && !isFile(text)),
  )

/** Each with a text that it must complain about, so that it is known to see something. */
export const finders: readonly (readonly [what: string, find: Finder, wrong: string])[] = [
  ['settings', unknownVariables, 'set `TOLLGATE_NO_SUCH_SETTING`'],
  ['commands', unknownCommands, 'run `tollgate token create --no-such-option`'],
  ['commands', unknownCommands, 'run `tollgate token destroy <id>`'],
  ['npm scripts', unknownScripts, 'run `npm run no-such-script`'],
  ['result codes', unknownCodes, 'the code is `123.456.789`'],
  ['endpoints', unknownEndpoints, 'send `PATCH /v1/payments/{id}`'],
  ['endpoints', unknownEndpoints, 'send to `/v1/nothing/{id}`'],
  ['events', unknownEvents, 'the event `payment.forgotten`'],
  ['fields', unknownFields, 'send `card.colour=red`'],
  ['methods', unknownMethods, 'call `gateway.payments.forgetEverything()`'],
  ['files', unknownFiles, 'see `core/payment/no-such-file.ts`'],
]
