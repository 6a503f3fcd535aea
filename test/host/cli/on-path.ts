/** A `tollgate` on the PATH of shell lines: what they call runs in the process of the test. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { runTollgate } from './tollgate.ts'

const run = promisify(execFile)

/** Hands the words to the test, and prints what it says. */
const messenger = (socket: string) => `
const line = require('node:net').connect(${JSON.stringify(socket)})
line.end(JSON.stringify(process.argv.slice(2)))
let said = ''
line.setEncoding('utf8').on('data', (chunk) => { said += chunk }).on('end', () => {
  const { code, out, err } = JSON.parse(said)
  process.stdout.write(out)
  process.stderr.write(err)
  process.exitCode = code
})
`

/**
 * Runs shell lines, which stop at the first failure.
 *
 * @param env The environment of their commands.
 * @param more Variables of the lines alone.
 * @returns standard output.
 */
export async function runLines(
  lines: string,
  { folder, env }: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const bin = join(folder, 'bin')
  const socket = join(bin, 'test.socket')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'messenger.cjs'), messenger(socket))
  const program = join(bin, 'tollgate')
  await writeFile(
    program,
    `#!/bin/sh\nexec "${process.execPath}" "${join(bin, 'messenger.cjs')}" "$@"\n`,
  )
  await chmod(program, 0o755)
  const server = createServer({ allowHalfOpen: true }, async (line) => {
    const words: string[] = JSON.parse(await text(line))
    line.end(JSON.stringify(await runTollgate(words, { folder, env })))
  }).listen(socket)
  await once(server, 'listening')
  try {
    const { stdout } = await run('sh', ['-euc', lines], {
      cwd: folder,
      env: { ...more, PATH: `${bin}:${process.env.PATH}` },
    })
    return stdout
  } finally {
    server.close()
  }
}
