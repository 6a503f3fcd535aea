/**
 * Writes the files of the widget to `plugins/widget/generated`. With `--check`, writes nothing,
 * names the stale files, and exits with 1 if there are any.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundle, tables } from './bundle.ts'

const folder = fileURLToPath(new URL('../generated/', import.meta.url))
const isCheck = process.argv.includes('--check')

mkdirSync(folder, { recursive: true })
const present = () => readdirSync(folder)

/** Writes the files that differ; returns the names of those. */
function renew(files: ReadonlyMap<string, string>): string[] {
  const known = present()
  const changed = [...files]
    .filter(([name, text]) => !known.includes(name) || readFileSync(folder + name, 'utf8') !== text)
    .map(([name]) => name)
  if (!isCheck) for (const name of changed) writeFileSync(folder + name, files.get(name)!)
  return changed
}

const sources = tables()
const stale = renew(sources)
const made = await bundle()
const listed = made.map((file) => `  ${JSON.stringify(file)},\n`)
const files = new Map([
  [
    'files.ts',
    `/** The files of the widget. Generated: npm run generate. */
export const files: readonly {
  readonly name: string
  readonly type: string
  readonly text: string
  readonly hash: string
  readonly integrity: string
  readonly policy?: string
}[] = [
${listed.join('')}]
`,
  ],
])
stale.push(...renew(files))
const surplus = present().filter((name) => !sources.has(name) && !files.has(name))

if (isCheck) {
  for (const name of [...stale, ...surplus].sort()) {
    console.error(`plugins/widget/generated/${name} is stale: run npm run generate`)
    process.exitCode = 1
  }
} else {
  for (const name of surplus) rmSync(folder + name)
  console.log(`widget: ${files.size} files, ${stale.length} written, ${surplus.length} removed`)
}
