/** Counters and histograms, from the channels of the engine. */
import { tracingChannel } from 'node:diagnostics_channel'
import type { ChannelName, Channels } from '@tollgate/plugin-kit'
import { Counter, Histogram, type Registry } from 'prom-client'

/** Counts until the returned function is called. Messages of other engines in this process do not count. */
export function countFromChannels(
  registry: Registry,
  engine: string,
  buckets: readonly number[],
): () => void {
  const registers = [registry]
  const seconds = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Histogram({ name, help, labelNames, buckets: [...buckets], registers })
  const count = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers })

  const payments = count(
    'tollgate_payments_total',
    'Outcomes of payments that this process wrote, by the group of their result code. A payment that was pending counts again when it is decided.',
    ['result_group', 'connector', 'payment_type'],
  )
  const requests = seconds(
    'tollgate_request_seconds',
    'Requests of clients, from the first line to the end of the answer. Status 0: the client left.',
    ['operation', 'status'],
  )
  const first = seconds('tollgate_first_commit_seconds', 'First commits of payments.', ['result'])
  const calls = seconds(
    'tollgate_connector_call_seconds',
    'Calls of connectors by handler and outcome.',
    ['connector', 'operation', 'outcome'],
  )
  const settling = seconds(
    'tollgate_settling_commit_seconds',
    'Commits that move payments to an outcome.',
    ['result'],
  )
  const notifications = count(
    'tollgate_notification_attempts_total',
    'Attempts to send notifications.',
    ['result'],
  )
  const ages = seconds(
    'tollgate_notification_age_seconds',
    'From an event to the attempt that delivered its notification.',
    [],
  )
  const jobs = seconds('tollgate_job_seconds', 'Runs of jobs.', ['job', 'result'])

  const ends = [
    onEnd('tollgate:request', engine, ({ operation, status = 0, durationMs = 0 }) =>
      requests.observe({ operation, status: String(status) }, durationMs / 1000),
    ),
    onEnd('tollgate:first-commit', engine, (told) =>
      first.observe({ result: resultOf(told) }, secondsOf(told)),
    ),
    onEnd('tollgate:connector-call', engine, (told) => {
      const { connector, operation, outcome = resultOf(told) } = told
      calls.observe({ connector, operation, outcome }, secondsOf(told))
    }),
    onEnd('tollgate:settling-commit', engine, (told) => {
      settling.observe({ result: resultOf(told) }, secondsOf(told))
      const { moved, group, connector, paymentType } = told
      if (moved !== true || group === undefined) return
      payments.inc({ result_group: group, connector, payment_type: paymentType })
    }),
    onEnd('tollgate:notification', engine, ({ delivered = false, ageMs, durationMs = 0 }) => {
      notifications.inc({ result: delivered ? 'delivered' : 'failed' })
      if (delivered) ages.observe((ageMs + durationMs) / 1000)
    }),
    onEnd('tollgate:job', engine, (told) =>
      jobs.observe({ job: told.job, result: resultOf(told) }, secondsOf(told)),
    ),
  ]
  return () => ends.forEach((end) => void end())
}

const secondsOf = ({ durationMs = 0 }: { durationMs?: number }) => durationMs / 1000
const resultOf = ({ error }: { error?: string }) => (error === undefined ? 'done' : 'failed')

/** Listens to the ends of one kind of work. */
function onEnd<Name extends ChannelName>(
  name: Name,
  engine: string,
  take: (told: Channels[Name]) => void,
): () => void {
  const channel = tracingChannel<unknown, Channels[Name]>(name).asyncEnd
  const listener = (message: unknown) => {
    const told = message as Channels[Name]
    if (told.engine === engine) take(told)
  }
  channel.subscribe(listener)
  return () => void channel.unsubscribe(listener)
}
