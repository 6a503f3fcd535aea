/** Migrates a database, and dies at the named fault point if one is given. */
import { migrateDatabase, onFaultPoint } from '../../core/index.ts'

const [url = '', dies] = process.argv.slice(2)
if (dies !== undefined) {
  onFaultPoint((point) => {
    if (point === dies) process.kill(process.pid, 'SIGKILL')
  })
}
await migrateDatabase({ url })
