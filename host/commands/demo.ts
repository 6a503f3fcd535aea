import type { Gateway } from '@tollgate/core'
import { createHost } from '../http/host.ts'
import { silent } from '../http/request-log.ts'
import { dataDirectoryOf } from '../serve/database.ts'
import { type Credentials, openDemo } from '../serve/demo.ts'
import { openInstallation } from '../serve/installation.ts'
import { reconciliationDemo } from '../serve/reconciliation-demo.ts'
import { subscriptionDemo } from '../serve/subscription-demo.ts'
import { type Command, print, UsageError } from './command.ts'
import { settingsFor } from './settings.ts'
import { placeOfCommand } from './with-installation.ts'

type Demo = (
  gateway: Gateway,
  credentials: Credentials,
  print: (line: string) => void,
) => Promise<void>

const demo = (name: string, summary: string, show: Demo): Command => ({
  name: `demo ${name}`,
  summary,
  notes: 'Uses the database of this folder, as serve does, and a port of its own while it runs.',
  async run(given, shell) {
    const settings = await settingsFor(given, shell)
    if (settings.environment !== 'test') {
      throw new UsageError(`demo ${name} needs the test environment: live has no test clocks`)
    }
    const { folder, log } = placeOfCommand(shell)
    // The steps are the output: lines of the log would stand between them.
    const place = { folder, log: { ...silent, warn: log.warn.bind(log) } }
    const installation = await openInstallation(settings, place, { role: 'all' }, 'demo')
    try {
      const { gateway } = installation
      const credentials = await openDemo(gateway, dataDirectoryOf(settings, place))
      const host = createHost(gateway, { host: '127.0.0.1', port: 0, log: place.log })
      const listening = await host.listen()
      installation.listensAt(listening.url)
      try {
        await show(gateway, { baseUrl: listening.url, ...credentials }, (line) =>
          print(shell, line),
        )
        return 0
      } finally {
        await listening.close()
      }
    } finally {
      await installation.close()
    }
  },
})

export const commands: readonly Command[] = [
  demo(
    'subscription',
    'Run a subscription from the first payment to the cancellation, on a test clock.',
    (_, credentials, say) => subscriptionDemo(credentials, say),
  ),
  demo(
    'reconciliation',
    'Run payments through a settlement file, from the payment to the CSV report, on a test clock.',
    reconciliationDemo,
  ),
]
