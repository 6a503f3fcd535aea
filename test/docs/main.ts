/**
 * `npm run docs` writes the parts of the documentation that repeat tables of the code. The tests prove
 * that these parts are current.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../rig/sources.ts'
import { generatedParts, withPart } from './facts.ts'

for (const part of generatedParts()) {
  const file = path.join(root, part.page)
  const text = readFileSync(file, 'utf8')
  const current = withPart(text, part)
  if (current === text) continue
  writeFileSync(file, current)
  console.log(`wrote ${part.page}: ${part.name}`)
}
