/** Renews the rows of test data that the reference page shows. `--check` names a stale file. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testDataModule } from '../../schemas/generate/test-data.ts'
import { simulatorData } from '../docs/simulator-rows.ts'

const file = join(import.meta.dirname, '../../schemas/generated/test-data.ts')
const text = testDataModule(simulatorData())
const isStale = !existsSync(file) || readFileSync(file, 'utf8') !== text

if (!process.argv.includes('--check')) {
  if (isStale) writeFileSync(file, text)
} else if (isStale) {
  console.error('schemas/generated/test-data.ts is stale: run npm run generate')
  process.exitCode = 1
}
