import { openLog } from '../logging.ts'
import { openInstallation } from '../serve/installation.ts'
import { standLastResort } from '../serve/last-resort.ts'
import { toldToEnd } from '../shell.ts'
import { type Command, print, UsageError } from './command.ts'
import { settingsFor } from './settings.ts'

const sftpCommand: Command = {
  name: 'sftp',
  summary: 'Serve report files by SFTP, in a process of its own. Ctrl-C stops it.',
  options: {
    host: { type: 'string', value: 'address', meaning: 'Address to listen on (HOST).' },
    port: {
      type: 'string',
      value: 'number',
      meaning: 'Port to listen on, 0 for a free port. Default: 2022.',
    },
  },
  notes:
    'Needs the plugin @tollgate/file-server. The login is the id of an entity, with a key of POST /v1/sftpkeys.',
  async run(given, shell) {
    const settings = await settingsFor(given, shell, ['host'])
    const port = portOf(given.options.port)
    for (const stream of [shell.stdout, shell.stderr]) stream.on('error', () => {})
    const isPretty =
      settings.logFormat === 'pretty' ||
      (settings.logFormat === 'auto' && shell.stderr.isTTY === true)
    const { log, flush } = openLog(settings.logLevel, isPretty, shell)
    const { folder, ownProcess } = shell
    if (ownProcess !== undefined) {
      const nothing = () => {}
      standLastResort(ownProcess, log, nothing, () => ownProcess.end())
    }
    const place = { folder, log }
    const installation = await openInstallation(settings, place, { role: 'api' })
    try {
      const { servedFiles } = installation.gateway
      const server = await servedFiles.listen('sftp', {
        host: settings.host,
        port: port ?? servedFiles.portOf('sftp'),
      })
      for (const fingerprint of server.fingerprints) print(shell, `Host key  ${fingerprint}`)
      print(shell, `Listens on sftp://${server.host}:${server.port}.`)
      log.info({ signal: await toldToEnd(shell.signal) }, 'ending')
      await server.close()
      return 0
    } finally {
      await installation.close()
      await flush()
    }
  },
}

/** @throws UsageError */
function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError('--port must be a number from 0 to 65535')
}

export const commands: readonly Command[] = [sftpCommand]
