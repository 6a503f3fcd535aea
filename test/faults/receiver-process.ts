/** The merchants' server for notifications, which records each delivery before its answer. */
import { openSync, writeSync } from 'node:fs'
import { type Mode, startReceiver, type Trust } from '../rig/notification-receiver.ts'

export type ReceiverOrder =
  | { readonly no: number; readonly trust: Trust; readonly path: string }
  | { readonly no: number; readonly behave: Mode; readonly path: string }

export type ReceiverNews = { readonly port: number } | { readonly done: number }

async function start(file: string, port: number, first: number): Promise<void> {
  // The database server reads the file as another user.
  const log = openSync(file, 'a', 0o644)
  const receiver = await startReceiver({
    port,
    // Hosts with clocks an hour off sign with their own time.
    toleranceSeconds: 7_200,
    tell({ no, atMs, path, id, sequence, notification, problem, accepted }) {
      const cells = [
        first + no,
        atMs,
        path.slice(1),
        id,
        notification?.payload.id ?? '\\N',
        Number.isNaN(sequence) ? '\\N' : sequence,
        notification?.type ?? '\\N',
        accepted,
        problem ?? '\\N',
      ]
      writeSync(log, `${cells.join('\t')}\n`)
    },
  })
  process.on('message', (order: ReceiverOrder) => {
    if ('trust' in order) receiver.trust(order.trust, order.path)
    else receiver.behave(order.behave, order.path)
    process.send?.({ done: order.no } satisfies ReceiverNews)
  })
  process.once('disconnect', () => process.exit())
  process.send?.({ port: Number(new URL(receiver.url).port) } satisfies ReceiverNews)
}

const [, , file, port, first] = process.argv
await start(file ?? '', Number(port), Number(first))
