/**
 * One host of an installation with faults. Started by host.ts with an order, controlled by
 * messages.
 */
import { onFaultPoint } from '../../../core/index.ts'
import { FaultPlan, type News, type Order, planVariable } from './fault-plan.ts'
import { type HostOrder, openHost } from './open-host.ts'

const order: HostOrder = JSON.parse(process.argv[2] ?? '')

/** Resolves when the parent has the message, so that the process can stop or die right after it. */
const tell = (news: News) => new Promise<void>((told) => process.send?.(news, () => told()))

let aheadMs = 0
const MachineDate = Date
/** Sets the wall clock of this process for all its code, libraries included. */
globalThis.Date = new Proxy(MachineDate, {
  construct: (_, parts: []) =>
    parts.length === 0 ? new MachineDate(MachineDate.now() + aheadMs) : new MachineDate(...parts),
  get: (date, name) =>
    name === 'now' ? () => MachineDate.now() + aheadMs : Reflect.get(date, name, date),
})
const advance = (ms: number) => {
  aheadMs += ms
}

const plan = new FaultPlan({ tell, advance })
plan.set(JSON.parse(process.env[planVariable] ?? '[]'))
onFaultPoint(plan.reach)

async function start() {
  const { close, ...listening } = await openHost(order, {
    shutdownGraceMs: 15_000,
    warn: (fields, message) =>
      void tell({ warned: `${order.name}: ${message} ${JSON.stringify(fields)}` }),
  })
  await tell({ listening })
  return close
}

const started = start()
started.catch((thrown: unknown) => {
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  void tell({ failed: text }).then(() => process.exit(1))
})

process.on('message', (message: Order) => {
  if ('release' in message) plan.release(message.release)
  if ('plan' in message) plan.set(message.plan)
  if ('advanceMs' in message) advance(message.advanceMs)
  if ('id' in message) void tell({ done: message.id })
  if ('close' in message) {
    void started.then((close) => close()).then(() => process.disconnect())
  }
})

// A host ends when its test is gone.
process.once('disconnect', () => setTimeout(() => process.exit(1), 2_000).unref())
