/** Writes the package of a connector from the template. */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Choices, type Part, packagePrefix, unfitName, withoutPrefix } from './choices.ts'

/** The folder of this package: its code may be in a part of a bundle, some folders below. */
function home(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

/** Files of the template that belong to one part alone. */
const filesOf: Readonly<Record<Part, readonly string[]>> = {
  token: [],
  redirect: [],
  events: ['src/events.ts'],
  settlement: ['src/settlement.ts', 'sandbox/files.ts'],
}

/** Why no package of this name can be written here; undefined when it can. */
export function takenFolder(name: string, into: string): string | undefined {
  const folder = join(into, withoutPrefix(name))
  return existsSync(folder) ? `${folder} exists already; choose another name` : undefined
}

/**
 * @param into the folder in which the package gets one of its own.
 * @returns the folder of the package.
 * @throws Error when the name does not fit, or the folder exists.
 */
export function createConnector(choices: Choices, into: string): string {
  const { wire, parts } = choices
  const why = unfitName(choices.name) ?? takenFolder(choices.name, into)
  if (why !== undefined) throw new Error(why)
  const name = withoutPrefix(choices.name)
  const folder = join(into, name)
  const from = home()
  const left = (Object.keys(filesOf) as Part[]).filter((part) => !parts.has(part))
  const files = new Map<string, string>()
  const others = left.map((part) => `without/${part}`)
  for (const layer of ['template', ...(wire === 'json' ? [] : [`wires/${wire}`]), ...others]) {
    for (const file of globSync('**/*.*', { cwd: join(from, layer) })) {
      files.set(file.replaceAll('\\', '/'), readFileSync(join(from, layer, file), 'utf8'))
    }
  }
  files.set('.gitignore', readFileSync(join(from, 'template/gitignore'), 'utf8'))
  for (const part of left) for (const file of filesOf[part]) files.delete(file)
  files.set('package.json', manifestOf(name, kitVersion(from)))
  const made = new Map([...files].map(([file, text]) => [file, named(chosen(text, parts), name)]))
  const readme = made.get('README.md') ?? ''
  made.set('README.md', readme.replace('@decisions@', decisionsIn(made)))
  for (const [file, text] of made) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  return folder
}

/** Without the marks of parts, and without the lines of those that were not chosen. */
function chosen(text: string, parts: ReadonlySet<Part>): string {
  let isKept = true
  const lines = text.split('\n').filter((line) => {
    const mark = /^\s*\/\/ #(\w+)$/.exec(line)?.[1]
    if (mark === undefined) return isKept
    isKept = mark === 'end' || parts.has(mark as Part)
    return false
  })
  return lines.join('\n')
}

/** The three forms of the name in the template. */
function named(text: string, name: string): string {
  const words = name.split('-')
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
  const [first = '', ...others] = words
  return text
    .replaceAll('acme-bank', name)
    .replaceAll('acmeBank', first + others.map(capital).join(''))
    .replaceAll('Acme Bank', words.map(capital).join(' '))
    .replaceAll('ACME-BANK', name.toUpperCase().slice(0, 28))
}

/** A row for each place that is marked. */
function decisionsIn(files: ReadonlyMap<string, string>): string {
  const rows = [...files]
    .filter(([file]) => file.endsWith('.ts'))
    .sort(([one], [other]) => (one < other ? 1 : -1))
    .flatMap(([file, text]) =>
      [...text.matchAll(/\/\/ DECIDE\(([^)]*)\): (.*)/g)].map(
        ([, mark, question]) => `| ${mark} | \`${file}\` | ${question} |`,
      ),
    )
  return rows.join('\n')
}

/** The range of kits that the template is written for: that of this package's own tests. */
function kitVersion(from: string): string {
  const { devDependencies } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as {
    devDependencies: Readonly<Record<string, string>>
  }
  return devDependencies['@tollgate/plugin-kit'] ?? '*'
}

function manifestOf(name: string, kit: string): string {
  const manifest = {
    name: `${packagePrefix}${name}`,
    version: '0.1.0',
    description: 'A Tollgate connector for Acme Bank.',
    keywords: ['tollgate', 'connector'],
    license: 'UNLICENSED',
    type: 'module',
    engines: { node: '>=22.18' },
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    scripts: {
      build: 'tsc',
      types: 'tsc -p tsconfig.check.json',
      test: 'node test/node-version.js && npm run types && node --test "test/*.test.ts"',
      prepack: 'npm run build',
      prepublishOnly: 'node test/decided.ts',
    },
    peerDependencies: { '@tollgate/plugin-kit': kit },
    devDependencies: {
      '@tollgate/plugin-kit': kit,
      '@types/node': '^24.0.0',
      typescript: '^7.0.0',
    },
    files: ['dist'],
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}
