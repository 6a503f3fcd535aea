/** Processes of the benchmark: one for each contestant, and one for the load. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export type Started = {
  readonly pid: number
  readonly stop: () => Promise<void>
}

/** A process of the benchmark that answers one message at a time. */
export type Child = Started & {
  /** The message of a process that is ready. */
  readonly ready: unknown
  readonly ask: (message: object) => Promise<unknown>
}

const stopMs = 20_000

/** Processes that were started and have not ended. */
const running = new Set<ChildProcess>()

function enrol(child: ChildProcess): void {
  running.add(child)
  child.once('exit', () => running.delete(child))
}

/** Ends all running processes, including any that no scenario has recorded. */
export async function endChildren(): Promise<void> {
  await Promise.all([...running].map((child) => stop(child, () => child.kill('SIGTERM'))))
}

// An immediate end of the benchmark must leave no process behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a script of the benchmark. `profile`: a folder for its processor profile. */
export async function startChild(
  script: URL | string,
  settings: Readonly<Record<string, string>>,
  profile?: string,
  nodeOptions: readonly string[] = process.execArgv,
): Promise<Child> {
  const child = fork(typeof script === 'string' ? script : fileURLToPath(script), [], {
    env: { ...process.env, ...settings },
    execArgv: [...nodeOptions, ...profiling(profile)],
  })
  enrol(child)
  const ready = await answerOf(child)
  return {
    pid: child.pid!,
    ready,
    ask(message) {
      const answer = answerOf(child)
      child.send(message)
      return answer
    },
    stop: () => stop(child, () => child.disconnect()),
  }
}

export type Program = Started & {
  /** Resolves with the last output when the process ended. */
  readonly ended: Promise<string>
}

/** Starts a program that serves until it is stopped. Its output goes to the file `log`. */
export function startProgram(
  program: string,
  parameters: readonly string[],
  settings: Readonly<Record<string, string>>,
  log: string,
  profile?: string,
  nodeOptions: readonly string[] = process.execArgv,
): Program {
  const node = [...nodeOptions, ...profiling(profile), program, ...parameters]
  const file = openSync(log, 'w')
  const child = spawn(process.execPath, node, {
    env: { ...process.env, ...settings },
    stdio: ['ignore', file, file],
  })
  closeSync(file)
  enrol(child)
  const ended = once(child, 'exit').then(
    ([code]) => `it ended with ${code}: ${readFileSync(log, 'utf8').slice(-4000).trim()}`,
  )
  return { pid: child.pid!, ended, stop: () => stop(child, () => child.kill('SIGTERM')) }
}

function profiling(folder: string | undefined): string[] {
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`]
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  try {
    const { signal } = over
    return await Promise.race([
      once(child, 'message', { signal }).then(([message]) => message),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`a process of the benchmark ended with ${code} before it answered`)
      }),
    ])
  } finally {
    over.abort()
  }
}

async function stop(child: ChildProcess, ask: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  const force = setTimeout(() => child.kill('SIGKILL'), stopMs)
  ask()
  await ended
  clearTimeout(force)
}
