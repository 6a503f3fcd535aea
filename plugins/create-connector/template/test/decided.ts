/** Before the package is published: a decision that is left would be one for another acquirer. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const sources = join(import.meta.dirname, '../src')
const left = readdirSync(sources).flatMap((file) =>
  [...readFileSync(join(sources, file), 'utf8').matchAll(/\/\/ DECIDE\(([^)]*)\)/g)].map(
    ([, mark]) => `  src/${file}: ${mark}`,
  ),
)
if (left.length > 0) {
  console.error(`Decisions are left. Take each, and remove its mark:\n${left.join('\n')}`)
  process.exitCode = 1
}
