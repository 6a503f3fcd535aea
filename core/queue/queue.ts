/**
 * pg-boss distributes jobs, with retries and dead letters. Jobs contain ids and never a business
 * time.
 */
import type { Job, Log } from '@tollgate/plugin-kit'
import { type Clock, type JobWithMetadata, systemClock as machineClock, PgBoss } from 'pg-boss'
import { systemClock } from '../clock.ts'
import type { Database } from '../db/database.ts'
import { asOfDatabase } from '../db/failures.ts'
import type { TransactionClient } from '../db/program-client.ts'
import { tellFailure } from '../db/tell-failure.ts'
import { errorFields } from '../error-words.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { programReason } from '../redaction/program-error.ts'
import { jobRuns } from '../telemetry.ts'
import { tellQueueError } from './queue-errors.ts'
import { queueStatements } from './queue-statements.ts'
import { jobsOf, renewed, type Tries } from './rows.ts'
import type { Enqueue, EnqueueWithin, FoundJob, QueueCounts, QueuedJob } from './types.ts'

const seconds = {
  /** A job that runs longer goes to another worker. Leases make the first run harmless. */
  expireIn: 150,
  /** A worker without a heartbeat for this long has died: its jobs go to others. */
  heartbeat: 15,
  monitor: 10,
  keepCompleted: 3600,
  keepFailed: 14 * 24 * 3600,
  /** Workers are woken by `wake`. They poll only in case that a wake was lost. */
  poll: 300,
}

const startedMs = systemClock.realMs() - systemClock.elapsedMs()
/** pg-boss uses the wall clock, and a clock set back an hour would stop it for an hour. */
const evenClock: Clock = { ...machineClock, now: () => startedMs + systemClock.elapsedMs() }

/** Brings the queues' own schema up to date. */
export async function migrateQueues(database: Database): Promise<void> {
  const boss = new PgBoss({
    db: queueStatements(database, 1),
    schema: queueSchema(database),
    createSchema: false,
    supervise: false,
    schedule: false,
  })
  boss.on('error', () => {})
  await boss.start()
  await boss.stop({ graceful: false })
}

/** The queue of the jobs that ran out of tries. */
export const deadOf = (name: string) => `${name}-dead`

const queueSchema = (database: Database) => `${database.schema}_boss`

/** The engine's queues. */
export class Queue {
  readonly #boss: PgBoss
  readonly #statements: ReturnType<typeof queueStatements>
  readonly #log: Log
  readonly #engine: string
  readonly #names = new Set<string>()
  /** How many workers each queue has in this process. */
  readonly #workers = new Map<string, number>()
  #isStopping = false

  constructor(
    database: Database,
    options: {
      engine: string
      migrate: boolean
      supervise: boolean
      connections: number
      log: Log
    },
  ) {
    this.#log = options.log
    this.#engine = options.engine
    this.#statements = queueStatements(database, options.connections)
    this.#boss = new PgBoss({
      db: this.#statements,
      schema: queueSchema(database),
      clock: evenClock,
      migrate: options.migrate,
      // Our own migration made it. PostgreSQL wants the right to make even a schema that exists.
      createSchema: false,
      schedule: false,
      supervise: options.supervise,
      superviseIntervalSeconds: seconds.monitor,
      monitorIntervalSeconds: seconds.monitor,
      maintenanceIntervalSeconds: 300,
    })
    // Without a listener, the error of a lost connection would end the process. Polling continues by itself.
    this.#boss.on('error', (error) => tellQueueError(this.#log, error))
  }

  async start(): Promise<void> {
    await this.#boss.start()
  }

  /**
   * Makes sure that the queues of jobs exist, with the present rules for their tries and time. They apply to jobs from
   * now on; a job that is queued keeps those of its time. Running it again asks once and changes nothing.
   */
  async declare(jobs: readonly QueuedJob<never>[]): Promise<void> {
    const names = jobs.flatMap(({ name }) => [deadOf(name), name])
    const found = await this.#boss.getQueues(names)
    const there = new Map(found.map((queue) => [queue.name, queue]))
    for (const { name, retry, expireSeconds } of jobs) {
      const rules = {
        retryLimit: retry.limit,
        retryDelay: retry.delaySeconds,
        retryBackoff: retry.limit > 0,
        expireInSeconds: expireSeconds ?? seconds.expireIn,
      }
      const dead = deadOf(name)
      if (!there.has(dead)) {
        await this.#boss.createQueue(dead, {
          policy: 'standard',
          retentionSeconds: seconds.keepFailed,
        })
      }
      const queue = there.get(name)
      if (queue === undefined) {
        await this.#boss.createQueue(name, {
          policy: 'exclusive',
          ...rules,
          heartbeatSeconds: seconds.heartbeat,
          deleteAfterSeconds: seconds.keepCompleted,
          deadLetter: dead,
        })
      } else if (
        (Object.keys(rules) as (keyof typeof rules)[]).some((rule) => queue[rule] !== rules[rule])
      ) {
        await this.#boss.updateQueue(name, rules)
      }
      this.#names.add(name)
    }
  }

  /** Starts working on a job in this process. */
  async work<Payload extends object>(
    job: QueuedJob<Payload>,
    run: (payload: Payload, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const options = {
      localConcurrency: job.concurrency,
      batchSize: 1,
      pollingIntervalSeconds: seconds.poll,
      // Jobs then say how often they were tried.
      includeMetadata: true as const,
      ...(job.concurrencyOfGroup === undefined
        ? {}
        : { localGroupConcurrency: job.concurrencyOfGroup }),
    }
    this.#workers.set(job.name, job.concurrency)
    const work = async (jobs: JobWithMetadata<Payload>[]) => {
      for (const one of jobs)
        await this.#tracked(job.name, renewed(one), () => run(one.data, one.signal))
    }
    await this.#boss.work(job.name, options, work)
  }

  /** The same for a job of a plugin or of the embedding program. */
  async workOwn(job: Job): Promise<void> {
    const options = {
      localConcurrency: queuedAs(job).concurrency,
      batchSize: 1,
      pollingIntervalSeconds: seconds.poll,
      includeMetadata: true as const,
    }
    this.#workers.set(job.name, options.localConcurrency)
    const work = async (jobs: JobWithMetadata<object>[]) => {
      for (const one of jobs) {
        const { id, data, signal } = one
        await this.#tracked(job.name, one, () => job.run(data, { id, signal }), programReason)
      }
    }
    await this.#boss.work(job.name, options, work)
  }

  async #tracked(
    name: string,
    tries: Tries,
    work: () => Promise<void>,
    reasonOf: typeof programReason = () => ({}),
  ): Promise<void> {
    try {
      await jobRuns.run(work, { about: () => ({ engine: this.#engine, job: name }) })
    } catch (error) {
      this.#tellFailed(name, tries, error, reasonOf(error))
      // Job tables have many readers, so they contain the kind of a failure and never its text.
      throw new Error(error instanceof Error ? error.name : 'unknown')
    } finally {
      this.#wake(name, 0)
    }
  }

  #tellFailed(
    job: string,
    { id, retryCount, retryLimit }: Tries,
    error: unknown,
    reason: { reason?: string },
  ): void {
    if (retryCount < retryLimit) {
      const about = { job, id, attempt: retryCount + 1, ...reason }
      // An ordinary deploy: the job was told to end, and another process runs it.
      if (this.#isStopping) {
        this.#log.info(about, 'a job ended with its process, and will be run again')
        return
      }
      tellFailure(this.#log, error, 'a job failed and will be tried again', about)
    } else {
      const text = `a job failed for the last time: it is kept in the queue ${deadOf(job)}`
      this.#log.warn({ job, id, tries: retryCount + 1, ...reason, ...errorFields(error) }, text)
    }
  }

  /** The workers of this process by queue, as JSON for `readyJobs`: one poll looks at all queues. */
  get workers(): string {
    return JSON.stringify(Object.fromEntries(this.#workers))
  }

  /** Lets workers fetch at once: as many idle ones as there are jobs, and busy ones when they end. */
  wake(ready: Readonly<Record<string, number>>): void {
    for (const [name, jobs] of Object.entries(ready)) this.#wake(name, jobs)
  }

  #wake(name: string, jobs: number): void {
    if (!this.#workers.has(name)) return
    let left = jobs
    for (const worker of this.#boss.getWipData()) {
      if (worker.name !== name) continue
      if (worker.count === 0) {
        if (left === 0) continue
        left -= 1
      }
      this.#boss.notifyWorker(worker.id)
    }
  }

  readonly enqueue: Enqueue = async (job, payloads) => {
    if (payloads.length === 0) return
    await this.#boss.insert(job.name, jobsOf(job, payloads))
    this.#wake(job.name, payloads.length)
  }

  /** The same as a part of the caller's transaction: the jobs are there when it commits. */
  readonly enqueueWithin: EnqueueWithin = async (client, job, payloads) => {
    if (payloads.length === 0) return
    await this.#boss.insert(job.name, jobsOf(job, payloads), { db: within(client) })
  }

  /** Jobs of a key that wait, run or ended lately, and those about the same that ran out of tries. */
  async find(job: { readonly name: string }, key: string, data: object): Promise<FoundJob[]> {
    const dead = deadOf(job.name)
    const [own, failed] = await Promise.all([
      this.#boss.findJobs(job.name, { key }),
      this.#boss.findJobs(dead, { data }),
    ])
    return [...own, ...failed].map((found) => ({
      id: found.id,
      queue: found.name,
      state: found.state,
      isDead: found.name === dead,
      retries: found.retryCount,
      createdAt: found.createdOn,
      startedAt: found.startedOn ?? null,
      endedAt: found.completedOn,
    }))
  }

  /** Counts of every queue, as the queue itself keeps them: up to ten seconds old. */
  async counts(): Promise<readonly QueueCounts[]> {
    const found = await this.#boss.getQueues(
      [...this.#names].flatMap((name) => [name, deadOf(name)]),
    )
    const byName = new Map(found.map((queue) => [queue.name, queue]))
    return [...this.#names].map((job) => ({
      job,
      queued: byName.get(job)?.queuedCount ?? 0,
      active: byName.get(job)?.activeCount ?? 0,
      dead: byName.get(deadOf(job))?.queuedCount ?? 0,
    }))
  }

  async forget(jobs: readonly FoundJob[]): Promise<void> {
    for (const { queue, id } of jobs) await this.#boss.deleteJob(queue, id)
  }

  /** Queues a job of the embedder or a plugin. At most one job with a `key` is queued or running, and any number without. */
  async send(
    name: string,
    payload: object,
    key: string | undefined,
    client?: TransactionClient,
  ): Promise<void> {
    // The queue holds one job of a key, and jobs without a key would share the empty one.
    const jobs = [{ data: payload, singletonKey: key ?? newId() }]
    const db = client === undefined ? this.#statements.ofCall : within(client)
    await this.#boss.insert(name, jobs, { db }).catch((error: unknown) => {
      throw isUnknownQueue(error) ? wrongName() : error
    })
    this.#wake(name, 1)
  }

  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true
    await this.#boss.stop({ graceful: true, timeout: timeoutMs })
  }
}

/** How a job of a plugin or of the embedding program is queued. */
export const queuedAs = (job: Job): QueuedJob<never> => ({
  name: job.name,
  retry: job.retry ?? { limit: 3, delaySeconds: 2 },
  concurrency: job.concurrency ?? 1,
  keyOf: () => '',
})

/** pg-boss has no code for it. */
const isUnknownQueue = (error: unknown) =>
  error instanceof Error && /^Queue .* does not exist$/.test(error.message)

/** Of a job that no process lists. */
export const wrongName = () =>
  new GatewayError('200.300.404', {
    parameterErrors: [
      { name: 'name', message: 'is no job: list it in the option `jobs` of createGateway' },
    ],
  })

/** pg-boss writes with this client. */
const within = (client: TransactionClient) => ({
  async executeSql(text: string, values?: unknown[]): Promise<{ rows: never[] }> {
    try {
      const result = await client.query({ text, ...(values === undefined ? {} : { values }) })
      return result as { rows: never[] }
    } catch (error) {
      throw asOfDatabase(error)
    }
  },
})
