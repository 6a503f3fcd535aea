/** Runs the command line in its own process, as a user does. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { scratchFolder } from '../../rig/cluster.ts'

const program = join(import.meta.dirname, '../../../host/bin/tollgate.js')

export type Ran = { readonly code: number | null; readonly out: string; readonly err: string }

export type Running = {
  readonly child: ChildProcess
  /** The output so far. */
  readonly text: { out: string; err: string }
  readonly ended: Promise<Ran>
  /**
   * Resolves when standard output or error contains the pattern; rejects when the process ends
   * first.
   */
  said(pattern: RegExp): Promise<void>
}

type Where = {
  readonly folder: string
  readonly env?: Readonly<Record<string, string>>
  /** Options of Node itself. */
  readonly node?: readonly string[]
  /** A file for standard output, as a shell opens one. */
  readonly into?: number
  /** The same for standard error. */
  readonly errorsInto?: number
  /** Through a shell that waits and passes no signal on, as npm starts it. */
  readonly byShell?: boolean
}

/** Starts one command without any setting of the surrounding process. */
export function startTollgate(words: readonly string[], where: Where): Running {
  const { folder, env, node = [], byShell = false, into = 'pipe', errorsInto = 'pipe' } = where
  const line = [process.execPath, ...node, '--conditions=@tollgate/source', program, ...words]
  const [file = '', ...choices] = byShell ? ['sh', '-c', '"$0" "$@"; exit $?', ...line] : line
  const child = spawn(file, choices, {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      HOME: folder,
      ...(byShell ? { npm_lifecycle_event: 'start' } : {}),
      ...env,
    },
    stdio: ['ignore', into, errorsInto],
  })
  const text = { out: '', err: '' }
  const waiting = new Set<() => void>()
  const hear = (stream: 'out' | 'err') => (chunk: Buffer) => {
    text[stream] += chunk.toString()
    for (const look of waiting) look()
  }
  child.stdout?.on('data', hear('out'))
  child.stderr?.on('data', hear('err'))
  const ended = once(child, 'close').then(([code]) => ({ code, ...text }) as Ran)
  return {
    child,
    text,
    ended,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!pattern.test(text.out) && !pattern.test(text.err)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        ended.then(({ code, out, err }) =>
          reject(new Error(`ended with ${code} before it said ${pattern}: ${out}${err}`)),
        )
        look()
      }),
  }
}

/** Runs one command to its end. */
export const runTollgate = (words: readonly string[], where: Where): Promise<Ran> =>
  startTollgate(words, where).ended

/** A project folder that other users can enter, so that an embedded database can be in it. */
export async function projectFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(scratchFolder(), 'tollgate-project-'))
  await chmod(path, 0o755)
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}

export type Credentials = { baseUrl: string; entityId: string; accessToken: string }

export const readCredentials = async (folder: string): Promise<Credentials> =>
  JSON.parse(await readFile(join(folder, 'test-credentials.json'), 'utf8'))
