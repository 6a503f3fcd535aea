/** Runs the command line in a process of its own, as a user does: for tests of what only a process has. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bundledVariable } from '../../rig/programs.ts'
import { Heard, type Running } from './heard.ts'

const program = join(import.meta.dirname, '../../../host/bin/tollgate.js')

export type Spawned = Running & { readonly child: ChildProcess }

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

/** Node, its options and the program: bundled by the runner of the tests, and otherwise from its sources. */
export const programLine = (node: readonly string[] = []): readonly string[] => {
  const isBundled = process.env[bundledVariable] !== undefined
  const condition = isBundled ? [] : ['--conditions=@tollgate/source']
  return [process.execPath, ...node, ...condition, program]
}

/** Starts one command without any setting of the surrounding process. */
export function spawnTollgate(words: readonly string[], where: Where): Spawned {
  const { folder, env, node, byShell = false, into = 'pipe', errorsInto = 'pipe' } = where
  const line = [...programLine(node), ...words]
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
  const heard = new Heard()
  child.stdout?.on('data', (chunk: Buffer) => heard.hear('out', chunk))
  child.stderr?.on('data', (chunk: Buffer) => heard.hear('err', chunk))
  const code = once(child, 'close').then(([code]) => code as number | null)
  return { child, ...heard.running(code) }
}
