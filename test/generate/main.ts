/**
 * Renews everything that is generated: the module of migrations, the test data, then the schemas that show
 * them, then the widget, then the tables in the documentation. `--check` names stale files.
 */
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { root } from '../rig/sources.ts'

await import('./migrations.ts')
await import('./test-data.ts')
const isStale = process.exitCode === 1
await import('../../schemas/generate/main.ts')
// Each part has its own say.
if (isStale) process.exitCode = 1
await import('../../plugins/widget/generate/main.ts')
// A process of its own reads what was just written.
const { status } = spawnSync(
  process.execPath,
  [...process.execArgv, path.join(root, 'test/docs/main.ts'), ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
if (status !== 0) process.exitCode = 1
