/**
 * Renews the module that holds the migrations, so that a bundle of a program holds them as well. `--check`
 * names a stale file.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const folder = join(import.meta.dirname, '../../core/db/migrations')
const file = join(import.meta.dirname, '../../core/db/generated/migrations.ts')

const rows = readdirSync(folder)
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .map((name) => {
    const text = readFileSync(join(folder, name), 'utf8').replaceAll(/[\\`]|\$(?=\{)/g, '\\$&')
    return `  {\n    name: '${name}',\n    text: \`${text}\`,\n  },\n`
  })
const text = `/** The files of db/migrations. Generated: npm run generate. */
export const migrations: readonly { readonly name: string; readonly text: string }[] = [
${rows.join('')}]
`
const isStale = !existsSync(file) || readFileSync(file, 'utf8') !== text

if (!process.argv.includes('--check')) {
  mkdirSync(dirname(file), { recursive: true })
  if (isStale) writeFileSync(file, text)
} else if (isStale) {
  console.error('core/db/generated/migrations.ts is stale: run npm run generate')
  process.exitCode = 1
}
