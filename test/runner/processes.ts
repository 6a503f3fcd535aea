/** The processes of a run, each the head of a group that ends with it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { root } from '../rig/sources.ts'

const running = new Set<ChildProcess>()
let why: string | null = null

/** The reason for which everything was stopped; null while the run goes on. */
export const stopped = () => why

export function stopEverything(reason: string): void {
  if (why !== null) return
  why = reason
  for (const child of running) end(child)
}

/** Ends the process group of a child, with all that it started. */
export function end(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The process is gone.
  }
}

/** Runs a program to its end; returns its exit code, and its output unless it was streamed. */
export function run(
  program: string,
  choices: readonly string[],
  options: {
    env?: Record<string, string>
    stream?: boolean
    watch?: (child: ChildProcess) => void
  } = {},
): Promise<{ code: number; said: string }> {
  const out = options.stream === true ? 'inherit' : 'pipe'
  return new Promise((resolve) => {
    const child = spawn(program, choices, {
      cwd: root,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', out, out],
      detached: true,
    })
    running.add(child)
    if (why !== null) end(child)
    options.watch?.(child)
    const parts: string[] = []
    child.stdout?.on('data', (chunk: Buffer) => parts.push(chunk.toString()))
    child.stderr?.on('data', (chunk: Buffer) => parts.push(chunk.toString()))
    const finish = (code: number) => {
      running.delete(child)
      end(child)
      resolve({ code, said: parts.join('') })
    }
    child.once('error', (thrown) => {
      parts.push(`${program}: ${thrown.message}\n`)
      finish(1)
    })
    child.once('close', (code) => finish(code ?? 1))
  })
}
