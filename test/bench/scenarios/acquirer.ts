/** The simulated acquirer in its own process, whose ledger shows the charges. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startProgram } from '../child.ts'
import { acquirerAccount, ownRoot } from '../installation.ts'
import type { Ground } from './ground.ts'

/** @returns its URL. */
export async function startAcquirer({ server, stop }: Ground): Promise<string> {
  const log = join(server.folder, 'acquirer.log')
  const script = join(ownRoot, 'connectors/simulator/bin/tollgate-simulator.js')
  const program = startProgram(script, [], {}, log)
  stop.defer(program.stop)
  let why: string | undefined
  program.ended.then((reason) => {
    why = reason
  })
  for (;;) {
    const [line] = (await readFile(log, 'utf8')).split('\n').filter((text) => text.startsWith('{'))
    if (line !== undefined) return (JSON.parse(line) as { url: string }).url
    if (why !== undefined) throw new Error(`the acquirer did not start: ${why}`)
    await pause(10)
  }
}

/** The number of booked operations. */
export async function charged(url: string): Promise<number> {
  const response = await fetch(`${url}/ledger?limit=1`, {
    headers: { authorization: `Bearer ${acquirerAccount.secret}` },
  })
  return ((await response.json()) as { count: number }).count
}
