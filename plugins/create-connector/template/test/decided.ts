/**
 * Before the package is published: a decision that is left would be one for another acquirer, and
 * nobody else has the file of this machine that a dependency names.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const home = join(import.meta.dirname, '..')
const sources = join(home, 'src')
const left = readdirSync(sources).flatMap((file) =>
  [...readFileSync(join(sources, file), 'utf8').matchAll(/\/\/ DECIDE\(([^)]*)\)/g)].map(
    ([, mark]) => `  src/${file}: ${mark}`,
  ),
)
if (left.length > 0) {
  console.error(`Decisions are left. Take each, and remove its mark:\n${left.join('\n')}`)
  process.exitCode = 1
}

const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
const files = ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((kind) =>
  Object.entries<string>(manifest[kind] ?? {})
    .filter(([, range]) => range.startsWith('file:'))
    .map(([name, range]) => `  ${kind}: ${name} ${range}`),
)
if (files.length > 0) {
  console.error(`Nobody else has these files. Write versions in package.json:\n${files.join('\n')}`)
  process.exitCode = 1
}
