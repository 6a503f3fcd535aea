import { buildNumber } from '@tollgate/core'
import type { HostSettings } from '../config/read-settings.ts'
import { openLog } from '../logging.ts'
import { demoCommand, demoMerchantId } from '../serve/demo.ts'
import { standLastResort } from '../serve/last-resort.ts'
import { type Served, serve } from '../serve/serve.ts'
import { onEndSignal } from '../serve/signals.ts'
import { Stages } from '../serve/stages.ts'
import { allSettingsFor, type Command, columns, print, settingsFor } from './command.ts'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Start the gateway. Ctrl-C stops it.',
  options: {
    role: {
      type: 'string',
      value: 'role',
      meaning: 'api serves requests, worker runs jobs, all does both (TOLLGATE_ROLE).',
    },
    surface: {
      type: 'string',
      value: 'names',
      meaning:
        'Surfaces to serve, separated by commas: merchant, fields, office (TOLLGATE_SURFACE).',
    },
    timings: { type: 'boolean', meaning: 'Print how long each stage of the start took.' },
    host: { type: 'string', value: 'address', meaning: 'Address to listen on (HOST).' },
    port: {
      type: 'string',
      value: 'number',
      meaning: 'Port to listen on, 0 for a free port (PORT).',
    },
  },
  notes:
    'Where the settings name pods, the process serves all of them, or the one that --pod names. tollgate --help lists all settings.',
  async run(given) {
    const read = given.options.pod === undefined ? allSettingsFor : settingsFor
    const settings = await read(given, ['role', 'surface', 'host', 'port'])
    // The reader of the output may go away; payments continue.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
    const isPretty =
      settings.logFormat === 'pretty' ||
      (settings.logFormat === 'auto' && process.stderr.isTTY === true)
    const { log, flush, flushNow } = openLog(settings.logLevel, isPretty)
    let served: Served | undefined
    let isBroken = false
    const endBroken = (why: string) => {
      isBroken = true
      log.warn({}, `${why}: this process ends`)
      process.emit('SIGTERM', 'SIGTERM')
    }
    standLastResort(
      log,
      (error) => {
        // A start that fails halfway would wait for ever, so its user gets the error.
        if (served === undefined) endUnstarted(error)
        else served.faulted(error)
      },
      () => endBroken('too many uncaught errors'),
    )
    const onOtherHost = () => endBroken('another process serves this installation')
    const stages = new Stages()
    stages.note('loading the program', performance.now())
    const starting = serve(settings, { folder: process.cwd(), log, onOtherHost, stages })
    const ended = onEndSignal(
      async (signal) => {
        const running = await starting.catch(() => undefined)
        log.info({ signal }, 'ending: running payments finish; press Ctrl-C again to force')
        await running?.close()
        log.info({}, 'ended')
        await flush()
      },
      () => {
        flushNow()
        process.exit(130)
      },
    )
    served = await starting
    present(served, settings)
    if (given.flags.has('timings')) for (const line of columns(stages.rows())) print(line)
    await ended
    return isBroken ? 1 : 0
  },
}

/** Ends a process that serves nothing yet, in the way of an uncaught error. */
function endUnstarted(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  process.exit(1)
}

function present(
  { url, healthUrl, demo, database, parts }: Served,
  { environment, role }: HostSettings,
): void {
  print(`${buildNumber}, ${environment} environment, database ${database}`)
  for (const line of columns(parts)) print(line)
  if (url === undefined) {
    print(`Works as ${role}. Health checks: ${healthUrl}/readyz`)
    return
  }
  if (demo === undefined) {
    print(`Listens on ${url}.`)
    return
  }
  const { baseUrl, entityId, accessToken, path, shopUrl } = demo
  print(`
  Base URL      ${baseUrl}
  Entity id     ${entityId}
  Access token  ${accessToken}
  Merchant id   ${demoMerchantId}
  Reference     ${baseUrl}/reference
  Written to    ${path}
${shopUrl === undefined ? '' : `  Demo shop     ${shopUrl}\n`}
A first payment:

  ${demoCommand(demo)}
`)
}
