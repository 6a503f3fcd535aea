/** A `tollgate serve` process under attack, with its measurements and its log. */
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { markOf, stillRuns } from '../rig/processes.ts'
import { bundlesAreCurrent } from '../rig/programs.ts'
import type { Measured, Question } from './host-monitor.ts'

export type Host = {
  readonly url: string
  readonly pid: number
  readonly log: HostLog
  /** Measured since the previous call. */
  measure(): Promise<Measured>
  /** Collects garbage and writes a heap snapshot to a file. */
  snapshot(path: string): Promise<void>
  /** The exit status of a process that ended by itself. */
  ended(): string | undefined
  close(): Promise<void>
}

/** Checks every line of the log and keeps the last few. */
export class HostLog {
  lines = 0
  requests = 0
  /** Lines that are not JSON objects, and lines with a forbidden text. */
  readonly wrong: string[] = []
  readonly faults: string[] = []
  #forbidden: readonly string[] = []
  #tail = ''
  readonly #changed = new EventEmitter().setMaxListeners(0)

  add(chunk: string): void {
    const parts = (this.#tail + chunk).split('\n')
    this.#tail = parts.pop() ?? ''
    for (const line of parts) if (line !== '') this.#line(line)
    this.#changed.emit('lines')
  }

  /** Forbids these texts in every later line. */
  forbid(texts: readonly string[]): void {
    this.#forbidden = [...this.#forbidden, ...texts]
  }

  /** Resolves when the log has that many lines about requests. */
  async untilRequests(count: number, withinMs = 60_000): Promise<void> {
    const signal = AbortSignal.timeout(withinMs)
    while (this.requests < count && !signal.aborted) {
      await once(this.#changed, 'lines', { signal }).catch(() => undefined)
    }
  }

  #line(line: string): void {
    this.lines += 1
    let entry: { msg?: unknown; level?: unknown }
    try {
      entry = JSON.parse(line)
    } catch {
      this.#keep(this.wrong, line)
      return
    }
    if (
      typeof entry !== 'object' ||
      entry === null ||
      /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(line)
    ) {
      this.#keep(this.wrong, line)
    }
    if (entry.msg === 'request' || entry.msg === 'no request') this.requests += 1
    if (typeof entry.msg === 'string' && entry.msg.includes('fault of the gateway')) {
      this.#keep(this.faults, line)
    }
    for (const text of this.#forbidden) if (line.includes(text)) this.#keep(this.wrong, line)
  }

  #keep(list: string[], line: string): void {
    if (list.length < 20) list.push(line.slice(0, 1000))
  }
}

const project = join(import.meta.dirname, '../..')
const startWithinMs = 60_000
const answerWithinMs = 60_000

export async function startHost(
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<Host> {
  await bundlesAreCurrent()
  const line = [
    '--expose-gc',
    '--import',
    join(import.meta.dirname, 'host-monitor.ts'),
    join(project, 'host/bin/tollgate.js'),
    'serve',
  ]
  const child = spawn(process.execPath, line, {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      HOME: folder,
      PORT: '0',
      TOLLGATE_DEMO: 'false',
      TOLLGATE_LOG_FORMAT: 'json',
      TOLLGATE_SHUTDOWN_GRACE_MS: '3000',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const mark = markOf(child.pid!)
  const kill = () => {
    if (mark !== null && stillRuns(mark)) process.kill(mark.pid, 'SIGKILL')
  }
  // The host ends with the attacker's process in every case.
  process.once('exit', kill)
  const log = new HostLog()
  const exited = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', kill)
    return String(code ?? signal)
  })
  let end: string | undefined
  exited.then((how) => {
    end = how
  })
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => log.add(chunk))
  const url = await new Promise<string>((resolve, reject) => {
    const give = setTimeout(
      () => reject(new Error(`the host did not start: ${said}`)),
      startWithinMs,
    )
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      if (said.length < 10_000) said += chunk
      const listens = /Listens on (http:\S+)\./.exec(said)?.[1]
      if (listens === undefined) return
      clearTimeout(give)
      resolve(listens)
    })
    exited.then((how) => reject(new Error(`the host ended with ${how}: ${log.wrong.join('\n')}`)))
  })
  let questions = 0
  const told = new EventEmitter().setMaxListeners(0)
  child.on('message', (answer: { id: number }) => told.emit(String(answer.id), answer))
  const ask = async <Answer>(question: Omit<Question, 'id'>): Promise<Answer> => {
    questions += 1
    if (end !== undefined) throw new Error(`the host ended with ${end}: ${log.wrong.join('\n')}`)
    const answer = once(told, String(questions), { signal: AbortSignal.timeout(answerWithinMs) })
    child.send({ id: questions, ...question })
    const [given] = await answer.catch(() => {
      throw new Error('the host does not answer: its event loop stands still')
    })
    return given as Answer
  }
  return {
    url,
    pid: child.pid!,
    log,
    measure: async () => (await ask<{ measured: Measured }>({ measure: true })).measured,
    snapshot: async (path) => void (await ask({ snapshot: path })),
    ended: () => end,
    async close() {
      if (end === undefined) child.kill('SIGTERM')
      const killed = setTimeout(kill, 10_000)
      await exited
      clearTimeout(killed)
    },
  }
}
