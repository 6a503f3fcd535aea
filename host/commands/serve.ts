import type { HostSettings } from '../config/read-settings.ts'
import { openLog } from '../logging.ts'
import { type OpenDatabase, openDatabase, type Place } from '../serve/database.ts'
import { demoCommand, demoMerchantId } from '../serve/demo.ts'
import { standLastResort } from '../serve/last-resort.ts'
import type { Served } from '../serve/serve.ts'
import { Stages } from '../serve/stages.ts'
import { type OwnProcess, type Shell, toldToEnd } from '../shell.ts'
import { buildNumber } from '../version.ts'
import { type Command, columns, print } from './command.ts'
import { allSettingsFor, settingsFor } from './settings.ts'

const serveCommand: Command = {
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
  async run(given, shell) {
    const read = given.options.pod === undefined ? allSettingsFor : settingsFor
    const settings = await read(given, shell, ['role', 'surface', 'host', 'port'])
    // The reader of the output may go away; payments continue.
    for (const stream of [shell.stdout, shell.stderr]) stream.on('error', () => {})
    const isPretty =
      settings.logFormat === 'pretty' ||
      (settings.logFormat === 'auto' && shell.stderr.isTTY === true)
    const { log, flush } = openLog(settings.logLevel, isPretty, shell)
    const { ownProcess } = shell
    let served: Served | undefined
    const broken = new AbortController()
    const endBroken = (why: string) => {
      log.warn({}, `${why}: this process ends`)
      broken.abort('SIGTERM')
      ownProcess?.end()
    }
    if (ownProcess !== undefined) {
      const faulted = (error: unknown) => {
        // A start that fails halfway would wait for ever, so its user gets the error.
        if (served === undefined) endUnstarted(shell, ownProcess, error)
        else served.faulted(error)
      }
      standLastResort(ownProcess, log, faulted, () => endBroken('too many uncaught errors'))
    }
    const onOtherHost = () => endBroken('another process serves this installation')
    const stages = new Stages()
    const place = { folder: shell.folder, log, onOtherHost, stages }
    const toEnd = Promise.race([toldToEnd(shell.signal), toldToEnd(broken.signal)])
    served = await startServing(settings, place)
    present(shell, served, settings)
    if (given.flags.has('timings')) for (const line of columns(stages.rows())) print(shell, line)
    const signal = await toEnd
    log.info({ signal }, 'ending: running payments finish; press Ctrl-C again to force')
    await served.close()
    log.info({}, 'ended')
    await flush()
    return broken.signal.aborted ? 1 : 0
  },
}

/** PostgreSQL starts while the engine is loaded, which keeps this process busy. */
async function startServing(
  settings: HostSettings,
  place: Place & { stages: Stages },
): Promise<Served> {
  place.stages.note('loading the command', performance.now())
  let database: Promise<OpenDatabase> | undefined
  if (settings.pods.length === 0) {
    const { promise: isAtWork, resolve } = Promise.withResolvers<void>()
    database = openDatabase(settings, place, 'host', resolve)
    // A failure is that of the start.
    await Promise.race([isAtWork, database.catch(() => {})])
  }
  const { serve } = await place.stages.run('loading the engine', () => import('../serve/serve.ts'))
  return serve(settings, place, database)
}

/** Ends a process that serves nothing yet, in the way of an uncaught error. */
function endUnstarted({ stderr }: Shell, ownProcess: OwnProcess, error: unknown): void {
  stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  ownProcess.exit(1)
}

function present(
  shell: Shell,
  { url, healthUrl, demo, database, parts }: Served,
  { environment, role }: HostSettings,
): void {
  print(shell, `${buildNumber}, ${environment} environment, database ${database}`)
  for (const line of columns(parts)) print(shell, line)
  if (url === undefined) {
    print(shell, `Works as ${role}. Health checks: ${healthUrl}/readyz`)
    return
  }
  if (demo === undefined) {
    print(shell, `Listens on ${url}.`)
    return
  }
  const { baseUrl, entityId, accessToken, file, shopUrl } = demo
  print(
    shell,
    `
  Base URL      ${baseUrl}
  Entity id     ${entityId}
  Access token  ${accessToken}
  Merchant id   ${demoMerchantId}
  Reference     ${baseUrl}/reference
  ${file.refusal === null ? `Written to    ${file.path}` : `Not written   ${file.path} (${file.refusal})`}
${shopUrl === undefined ? '' : `  Demo shop     ${shopUrl}\n`}
A first payment:

  ${demoCommand(demo)}
`,
  )
}

export const commands: readonly Command[] = [serveCommand]
