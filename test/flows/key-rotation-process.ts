/**
 * A `rotate`, `rewrap` or payment load in its own process, which dies by kill -9 at a given point.
 * Started by key-rotation.test.ts, which passes the task as the first argument.
 */
import { setTimeout as pause } from 'node:timers/promises'
import {
  createGateway,
  type FaultPoint,
  KeyAdministration,
  localKeys,
  onFaultPoint,
} from '../../core/index.ts'
import { card, freshSimulator } from '../rig/gateway.ts'

export type RotationOrder = {
  readonly work: 'rotate' | 'rewrap' | 'serve'
  readonly databaseUrl: string
  readonly keys: string
  /** Dies at the n-th visit of this point. */
  readonly die?: { readonly at: FaultPoint; readonly nth: number }
  /** For `serve`: the channel of the payments. */
  readonly channel?: string
}

/** Messages of a `serve`: its readiness, and every answered payment. */
export type RotationNews =
  | { readonly ready: true }
  | { readonly paid: { readonly id: string; readonly code: string; readonly rebill: string } }
  | { readonly declined: string }
  | { readonly failed: string }

const order: RotationOrder = JSON.parse(process.argv[2] ?? '')
const tell = (news: RotationNews) => void process.send?.(news)

let visits = 0
onFaultPoint((at) => {
  if (at !== order.die?.at) return
  visits += 1
  if (visits === order.die.nth) process.kill(process.pid, 'SIGKILL')
})

if (order.work === 'serve') {
  const gateway = await createGateway({
    database: { url: order.databaseUrl },
    plugins: [freshSimulator()],
    environment: 'test',
    keys: localKeys(order.keys),
    role: 'api',
    migrate: false,
  })
  let stopped = false
  process.on('message', () => {
    stopped = true
  })
  const pay = async () => {
    while (!stopped) {
      try {
        const request = { ...card('4200000000000000'), entityId: order.channel }
        const { id, result } = await gateway.payments.create(request as never)
        // Opens the number sealed a moment ago, under any key.
        const again = await gateway.payments.rebill(id, { amount: '1.00', currency: 'EUR' })
        tell({ paid: { id, code: result.code, rebill: again.result.code } })
        // Declined by its holder's name; its number is erased at once, with or without a rotation.
        const refused = { ...request, card: { ...request.card, holder: '800.100.152' } }
        tell({ declined: await gateway.payments.create(refused as never).then((one) => one.id) })
      } catch (error) {
        tell({ failed: String((error as Error).stack) })
      }
      // Payments at every step of the rotation, without a processor of their own.
      await pause(20)
    }
  }
  tell({ ready: true })
  await Promise.all([pay(), pay(), pay()])
  await gateway.close()
  process.disconnect()
} else {
  await using keys = await KeyAdministration.open({
    database: { url: order.databaseUrl },
    keys: localKeys(order.keys),
  })
  if (order.work === 'rewrap') await keys.rewrap()
  else await keys.rotate({ graceMs: 300, waitMs: 60_000 })
}
