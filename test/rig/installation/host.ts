/** A test's view of a host process: its address, its fault points, its end. */
import { type ChildProcess, fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import type { FaultPoint } from '../../../core/index.ts'
import { markOf, type ProcessMark, stillRuns } from '../processes.ts'
import { bundled } from '../programs.ts'
import { root } from '../sources.ts'
import { type Fault, type News, type Order, planVariable, type Visit } from './fault-plan.ts'
import type { HostOrder } from './open-host.ts'

export type Host = {
  readonly name: string
  /** Base URL; '' for a worker, which does not listen. */
  readonly url: string
  readonly token: string
  /** Token of another merchant of the same installation. */
  readonly strangerToken: string
  readonly pid: number
  /** Replaces the plan; resolves when the process has it. */
  plan(...faults: readonly Fault[]): Promise<void>
  /** The next unread visits to a fault point, in order of arrival. */
  reached(at: FaultPoint): Promise<Visit>
  /** Lets a held visit continue. */
  release(visit: Visit): void
  /**
   * Advances the wall clock of the process, as after a machine's sleep, in which the monotonic one
   * stood still.
   */
  advance(ms: number): Promise<void>
  /** kill -9. Resolves when the process is gone. */
  kill(): Promise<void>
  /** Resolves with the exit code or signal when the process is gone for any reason. */
  gone(): Promise<string>
  /** SIGSTOP and SIGCONT. Messages to a stopped process wait. */
  pause(): void
  resume(): void
  /** Ends like a host on request. */
  close(): Promise<void>
}

const withinMs = 60_000
/** A process with hardly any processor takes that long to load. */
const startsWithinMs = 60_000

/** @param preload modules that the process loads first, before its sources, which they may change */
export async function startHost(
  order: HostOrder,
  faults: readonly Fault[] = [],
  preload: readonly string[] = [],
): Promise<Host> {
  const isBundled = preload.length === 0
  const source = 'test/rig/installation/host-process.ts'
  const program = isBundled ? await bundled(source) : join(root, source)
  const child = fork(program, [JSON.stringify(order)], {
    // A young generation for a second of requests saves a tenth of the work under load.
    execArgv: [
      ...(isBundled ? [] : ['--conditions=@tollgate/source']),
      '--max-semi-space-size=64',
      ...preload.map((file) => `--import=${file}`),
    ],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [planVariable]: JSON.stringify(faults) },
  })
  const mark = markOf(child.pid!)
  endWithThisProcess(child, mark)
  const exited = new Promise((gone) => child.once('exit', gone))
  // The sender of an order to a process that is gone learns of its end.
  child.on('error', () => {})
  const inbox = new Inbox(child)
  const { url, token, strangerToken } = await inbox
    .next('listening', () => true, startsWithinMs)
    .catch((error: unknown) => {
      child.kill('SIGKILL')
      throw error
    })
  let orders = 0
  const carriedOut = async (order: (id: number) => Order) => {
    orders += 1
    const id = orders
    child.send(order(id))
    await inbox.next('done', (done) => done === id)
  }
  const isRunning = () => child.exitCode === null && child.signalCode === null
  return {
    name: order.name,
    url: url ?? '',
    token,
    strangerToken,
    pid: child.pid!,
    plan: (...faults) => carriedOut((id) => ({ plan: faults, id })),
    reached: (at) => inbox.next('reached', (visit) => visit.at === at),
    release: ({ number }) => void child.send({ release: number } satisfies Order),
    advance: (advanceMs) => carriedOut((id) => ({ advanceMs, id })),
    async kill() {
      if (isRunning()) child.kill('SIGKILL')
      await exited
    },
    async gone() {
      await exited
      return String(child.exitCode ?? child.signalCode)
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async close() {
      if (isRunning()) child.send({ close: true } satisfies Order)
      await exited
    },
  }
}

/** Ends the test's processes with the test, also stopped ones. */
function endWithThisProcess(child: ChildProcess, mark: ProcessMark | null): void {
  const end = () => {
    if (mark !== null && stillRuns(mark)) process.kill(mark.pid, 'SIGKILL')
  }
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
}

type Name = 'listening' | 'reached' | 'done'
type Told<Which extends Name> = Which extends 'listening'
  ? { url: string | null; token: string; strangerToken: string }
  : Which extends 'reached'
    ? Visit
    : number

/** Messages of a process, kept until they are read. */
class Inbox {
  readonly #news: { readonly name: Name; readonly told: unknown }[] = []
  readonly #arrived = new EventEmitter().setMaxListeners(0)
  #ended: string | undefined

  constructor(child: ChildProcess) {
    child.on('message', (message: News) => {
      if ('warned' in message) {
        if (process.env.TOLLGATE_TEST_WARNINGS !== undefined) console.log(message.warned)
      } else if ('failed' in message) this.#end(message.failed)
      else this.#add(message)
    })
    child.once('exit', (code, signal) => this.#end(`the host ended with ${code ?? signal}`))
  }

  #add(message: Exclude<News, { warned: unknown } | { failed: unknown }>): void {
    const [[name, told]] = Object.entries(message) as [[Name, unknown]]
    this.#news.push({ name, told })
    this.#arrived.emit('news')
  }

  #end(why: string): void {
    this.#ended ??= why
    this.#arrived.emit('news')
  }

  async next<Which extends Name>(
    name: Which,
    fits: (told: Told<Which>) => boolean,
    beforeMs = withinMs,
  ): Promise<Told<Which>> {
    const signal = AbortSignal.timeout(beforeMs)
    for (;;) {
      const at = this.#news.findIndex((one) => one.name === name && fits(one.told as Told<Which>))
      if (at !== -1) return this.#news.splice(at, 1)[0]!.told as Told<Which>
      if (this.#ended !== undefined) throw new Error(this.#ended)
      if (signal.aborted) throw new Error(`the host sent no "${name}" in time`)
      await once(this.#arrived, 'news', { signal }).catch(() => undefined)
    }
  }
}
