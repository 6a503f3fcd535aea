/** An operator who is enrolled on a terminal reads the authenticator from the screen, with a phone. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { startGateway, testKey } from '../../rig/gateway.ts'
import { projectFolder, runTollgate } from './tollgate.ts'

const blocks = /[▀▄█ ]{20,}/

test('a terminal shows the QR code of the authenticator, and a file does not', async () => {
  const run = await startGateway()
  const project = await projectFolder()
  try {
    await writeFile(join(project.path, 'password'), 'a long enough passw0rd', { mode: 0o600 })
    const env = { DATABASE_URL: run.database.url, TOLLGATE_KEYS: testKey }
    const words = (name: string) =>
      `operator create ${name} --role viewer --entity all --password-file password`.split(' ')
    let shown = ''
    const terminal = Object.assign(
      new Writable({
        write(chunk: Buffer, _, done) {
          shown += chunk
          done()
        },
      }),
      { isTTY: true },
    )
    const where = { folder: project.path, env }
    const { code, err } = await runTollgate(words('ann'), { ...where, into: terminal })
    assert.equal(code, 0, err.slice(-400))
    assert.match(shown, /otpauth:\/\/totp\//)
    assert.match(shown, blocks)
    assert.doesNotMatch(shown, /\u001b/, 'it fits every terminal')
    const piped = await runTollgate(words('bob'), where)
    assert.match(piped.out, /otpauth:\/\/totp\//)
    assert.doesNotMatch(piped.out, blocks)
  } finally {
    await run.close()
    await project.remove()
  }
})
