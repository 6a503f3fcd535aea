/**
 * Runs every test with a browser, also those that `npm test` leaves out for their time.
 *
 *   npm run browser                all
 *   npm run browser -- people      only files whose path has one of these words
 */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { clusterVariable, startTestCluster } from '../rig/cluster.ts'

const project = join(import.meta.dirname, '../..')
const answersChecked = `--import=${pathToFileURL(join(project, 'test/rig/check-answers.ts'))}`
const words = process.argv.slice(2)
const files = globSync('test/browser/**/*.{test,whole}.ts', { cwd: project })
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort()

if (files.length === 0) throw new Error(`no file has ${words.join(' or ')} in its path`)
const cluster = await startTestCluster()
const run = spawn(
  process.execPath,
  ['--conditions=@tollgate/source', answersChecked, '--test', '--test-concurrency=2', ...files],
  { cwd: project, stdio: 'inherit', env: { ...process.env, [clusterVariable]: cluster.url } },
)
process.exitCode = await new Promise<number>((resolve) =>
  run.once('close', (code) => resolve(code ?? 1)),
)
await cluster.stop()
