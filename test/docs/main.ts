/**
 * `npm run docs` writes the parts of the documentation that repeat tables of the code. With `--check`,
 * writes nothing, names the pages that are not current, and exits with 1 if there are any.
 *
 *   --in <folder>  a folder with the pages, instead of the repository
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../rig/sources.ts'
import { generatedParts, withPart } from './facts.ts'

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    in: { type: 'string', default: root },
  },
})

for (const part of generatedParts()) {
  const file = path.join(values.in, part.page)
  const text = readFileSync(file, 'utf8')
  const current = withPart(text, part)
  if (current === text) continue
  if (values.check) {
    console.error(`${part.page} is stale in its ${part.name}: run npm run docs`)
    process.exitCode = 1
  } else {
    writeFileSync(file, current)
    console.log(`wrote ${part.page}: ${part.name}`)
  }
}
