import { buildNumber, keepHeapClose } from '@tollgate/core'
import type { HostSettings } from '../config/read-settings.ts'
import { openLog } from '../logging.ts'
import { demoCommand } from '../serve/demo.ts'
import { type Served, serve } from '../serve/serve.ts'
import { onEndSignal } from '../serve/signals.ts'
import { type Command, print, settingsFor } from './command.ts'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Take payments: database, engine and HTTP until Ctrl-C.',
  options: {
    role: {
      type: 'string',
      value: 'role',
      meaning: 'api takes requests, worker runs jobs, all does both (TOLLGATE_ROLE).',
    },
    host: { type: 'string', value: 'address', meaning: 'Address to listen on (HOST).' },
    port: {
      type: 'string',
      value: 'number',
      meaning: 'Port to listen on, 0 for a free one (PORT).',
    },
  },
  notes: 'Other settings come from the environment or tollgate.config.ts: tollgate --help.',
  async run(given) {
    const settings = await settingsFor(given, ['role', 'host', 'port'])
    keepHeapClose()
    // Whoever read our output may go away; payments go on.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
    const isPretty =
      settings.logFormat === 'pretty' ||
      (settings.logFormat === 'auto' && process.stderr.isTTY === true)
    const { log, flush } = openLog(settings.logLevel, isPretty)
    const starting = serve(settings, { folder: process.cwd(), log })
    const ended = onEndSignal(
      async (signal) => {
        const served = await starting.catch(() => undefined)
        log.info({ signal }, 'ending: running payments finish; press Ctrl-C again to force')
        await served?.close()
        log.info({}, 'ended')
        flush()
      },
      () => {
        flush()
        process.exit(130)
      },
    )
    present(await starting, settings)
    await ended
    return 0
  },
}

function present({ url, demo, database }: Served, { environment, role }: HostSettings): void {
  print(`${buildNumber}, ${environment} environment, database ${database}`)
  if (url === undefined) {
    print(`Works as ${role}.`)
    return
  }
  if (demo === undefined) {
    print(`Listens on ${url}.`)
    return
  }
  const { baseUrl, entityId, accessToken, path } = demo
  print(`
  Base URL      ${baseUrl}
  Entity id     ${entityId}
  Access token  ${accessToken}
  Reference     ${baseUrl}/reference
  Written to    ${path}

A first payment:

  ${demoCommand(demo)}
`)
}
