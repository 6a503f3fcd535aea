/**
 * Writes every file generated from the field tables to `schemas/generated`. With `--check`, writes
 * nothing, names the stale files, and exits with 1 if there are any.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generate } from './generate.ts'

const folder = fileURLToPath(new URL('../generated/', import.meta.url))

mkdirSync(folder, { recursive: true })
const files = await generate()
const present = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
const surplus = present.filter((path) => !files.has(path))
const changed = [...files].filter(
  ([path, text]) => !present.includes(path) || readFileSync(join(folder, path), 'utf8') !== text,
)

if (process.argv.includes('--check')) {
  const stale = [...changed.map(([path]) => path), ...surplus].sort()
  for (const path of stale)
    console.error(`schemas/generated/${path} is stale: run npm run generate`)
  process.exitCode = stale.length === 0 ? 0 : 1
} else {
  for (const path of surplus) rmSync(join(folder, path))
  for (const [path, text] of changed) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  console.log(`${files.size} files, ${changed.length} written, ${surplus.length} removed`)
}
