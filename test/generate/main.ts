/**
 * Renews everything that is generated: the module of migrations, the test data, then the schemas that show
 * them, then the widget. `--check` names stale files.
 */
await import('./migrations.ts')
await import('./test-data.ts')
const isStale = process.exitCode === 1
await import('../../schemas/generate/main.ts')
// Each part has its own say.
if (isStale) process.exitCode = 1
await import('../../plugins/widget/generate/main.ts')

export {}
