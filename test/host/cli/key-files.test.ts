/** A new key reaches its owner and no other user of the machine. */
import assert from 'node:assert/strict'
import { createWriteStream } from 'node:fs'
import { open, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { after, before, describe, test } from 'node:test'
import { projectFolder, runTollgate } from './tollgate.ts'

describe('the command line: key files', () => {
  let project: Awaited<ReturnType<typeof projectFolder>>
  before(async () => {
    project = await projectFolder()
  })
  after(() => project.remove())

  const line = /^main:[0-9a-f]{64}\n$/

  test('a key is written into a new file of its owner alone', async () => {
    const where = { folder: project.path }
    const { code, out, err } = await runTollgate(['keys', 'make', 'main', '--out', 'kek'], where)
    assert.equal(code, 0, err)
    const path = join(project.path, 'kek')
    const text = await readFile(path, 'utf8')
    assert.match(text, line)
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.doesNotMatch(out + err, /[0-9a-f]{64}/)
    const again = await runTollgate(['keys', 'make', 'main', '--out', 'kek'], where)
    assert.equal(again.code, 1)
    assert.match(again.err, /kek exists, and keys are never overwritten/)
    assert.equal(await readFile(path, 'utf8'), text)
  })

  test('a key is not printed into a file that others can read', async () => {
    for (const [mode, isTaken] of [
      [0o644, false],
      [0o640, false],
      [0o600, true],
    ] as const) {
      const path = join(project.path, `output-${mode.toString(8)}`)
      await writeFile(path, '', { mode })
      const file = await open(path, 'w')
      const into = createWriteStream(path, { fd: file.fd, autoClose: false })
      try {
        const { code, err } = await runTollgate(['keys', 'make', 'main'], {
          folder: project.path,
          into: Object.assign(into, { fd: file.fd }),
        })
        await finished(into.end())
        assert.equal(code, isTaken ? 0 : 1, err)
        const text = await readFile(path, 'utf8')
        if (isTaken) assert.match(text, line)
        else {
          assert.equal(text, '')
          assert.match(err, /may read.*--out <file>/)
        }
      } finally {
        await file.close()
      }
    }
  })
})
