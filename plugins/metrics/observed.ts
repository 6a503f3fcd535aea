/** Gauges, from the state that the engine tells at each scrape. */
import type { ExporterContext, SharedState } from '@tollgate/plugin-kit'
import { Gauge, type Registry } from 'prom-client'

/** Prometheus gives up after ten seconds by default, and a database that hangs is told too. */
const patienceMs = 2_000

/** @returns a function that sets all gauges to the present state. It never throws. */
export function observeState(registry: Registry, context: ExporterContext): () => Promise<void> {
  const registers = [registry]
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers })

  const info = gauge('tollgate_info', 'Version and role of this process; always 1.', [
    'version',
    'role',
    'environment',
  ])
  const { version, role, environment } = context
  info.set({ version, role, environment }, 1)
  const connections = gauge(
    'tollgate_pool_connections',
    'Database connections of this process, by lane: open ones, and those without work.',
    ['lane', 'state'],
  )
  const poolWaiting = gauge(
    'tollgate_pool_waiting',
    'Statements that wait for a connection of their lane.',
    ['lane'],
  )
  const rows = gauge('tollgate_rows_waiting', 'Rows that wait for a flush of the group lane.')
  const underWay = gauge('tollgate_under_way', 'Payments and messages under way in this process.')
  const calls = gauge('tollgate_calls_under_way', 'Operations at acquirers under way.', [
    'connector',
  ])

  const up = gauge('tollgate_database_up', 'Whether the database told its state: 1 or 0.')
  const jobs = gauge('tollgate_jobs', 'Jobs of this database: queued, active, or dead.', [
    'job',
    'state',
  ])
  const waiting = gauge(
    'tollgate_notifications_waiting',
    'Notifications and events that wait for their delivery. The count ends at 10,000 of each.',
    ['state'],
  )
  const oldest = gauge(
    'tollgate_notifications_oldest_seconds',
    'Age of the oldest event whose notification waits; 0 without any.',
  )
  const attention = gauge('tollgate_attention_open', "Open entries of the operators' list.", [
    'kind',
  ])
  const attentionAge = gauge(
    'tollgate_attention_oldest_seconds',
    "Age of the oldest open entry of the operators' list.",
    ['kind'],
  )
  const ofDatabase = [jobs, waiting, oldest, attention, attentionAge]

  const showProcess = () => {
    const state = context.process()
    for (const one of [connections, poolWaiting, calls]) one.reset()
    for (const { lane, open, idle, waiting: statements } of state.pools) {
      connections.set({ lane, state: 'open' }, open)
      connections.set({ lane, state: 'idle' }, idle)
      poolWaiting.set({ lane }, statements)
    }
    rows.set(state.rowsWaiting)
    underWay.set(state.underWay)
    for (const [connector, count] of Object.entries(state.calls)) calls.set({ connector }, count)
  }

  const showShared = (state: SharedState | undefined) => {
    up.set(state === undefined ? 0 : 1)
    for (const one of ofDatabase) one.reset()
    if (state === undefined) {
      // Old numbers would look like present ones.
      oldest.remove()
      return
    }
    for (const { job, queued, active, dead } of state.jobs) {
      jobs.set({ job, state: 'queued' }, queued)
      jobs.set({ job, state: 'active' }, active)
      jobs.set({ job, state: 'dead' }, dead)
    }
    const { unclaimed, waiting: notifications, oldestSeconds } = state.notifications
    waiting.set({ state: 'unclaimed' }, unclaimed)
    waiting.set({ state: 'pending' }, notifications)
    oldest.set(oldestSeconds)
    for (const { kind, open, oldestSeconds: age } of state.attention) {
      attention.set({ kind }, open)
      attentionAge.set({ kind }, age)
    }
  }

  return async () => {
    const shared = await within(context.shared())
    showProcess()
    showShared(shared)
  }
}

/** Undefined: the database gave no answer in time. */
async function within<T>(work: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), patienceMs)
  try {
    return await Promise.race([work.catch(() => undefined), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
