/** Runs the command line in the process of the test. */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { main } from '../../../host/cli.ts'
import type { Output } from '../../../host/shell.ts'
import { scratchFolder } from '../../rig/cluster.ts'
import { Heard, type Ran, type Running } from './heard.ts'

export type { Ran, Running } from './heard.ts'

export type Started = Running & {
  /** Tells the command to end, as Ctrl-C does. */
  end(): Promise<Ran>
}

type Where = {
  readonly folder: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** Takes the place of standard output. */
  readonly into?: Output
}

/** Starts one command without any setting of the surrounding process. */
export function startTollgate(words: readonly string[], where: Where): Started {
  const { folder, env, stdin = '', into } = where
  const heard = new Heard()
  const output = (stream: 'out' | 'err') =>
    new Writable({
      write(chunk: Buffer, _, done) {
        heard.hear(stream, chunk)
        done()
      },
    })
  const ending = new AbortController()
  const code = main(words, {
    env: { HOME: folder, ...env },
    folder,
    stdin: Readable.from([stdin]),
    stdout: into ?? output('out'),
    stderr: output('err'),
    signal: ending.signal,
  })
  const running = heard.running(code)
  return {
    ...running,
    end() {
      ending.abort('SIGINT')
      return running.ended
    },
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
