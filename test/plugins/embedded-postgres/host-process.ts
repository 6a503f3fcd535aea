/** A process that uses the embedded database as a host does. Started by hosts.ts, told by messages. */
import { startEmbeddedPostgres } from '../../../plugins/embedded-postgres/index.ts'
import type { HostOrder } from './hosts.ts'

const order: HostOrder = JSON.parse(process.argv[2] ?? '')

// Dropped here and not by the parent, so that the project itself may lie where only root can read.
if (order.user !== null) {
  process.setgroups?.([])
  process.setgid?.(order.user.gid)
  process.setuid?.(order.user.uid)
}

function tell(message: object): void {
  process.send?.(message)
}

startEmbeddedPostgres({
  ...order.options,
  log: (line) => tell({ line }),
  onOtherHost: () => tell({ line: 'another host' }),
}).then(
  (server) => {
    tell({ started: { url: server.url, location: server.location } })
    process.once('message', () => {
      server.stop().then(
        () => process.disconnect(),
        (thrown: unknown) => tell({ failed: String(thrown) }),
      )
    })
  },
  (thrown: unknown) => {
    tell({ failed: String(thrown) })
    process.disconnect()
  },
)
