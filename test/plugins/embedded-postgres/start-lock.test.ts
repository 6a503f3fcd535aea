import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { markOf } from '../../../plugins/embedded-postgres/processes.ts'
import { withStartLock } from '../../../plugins/embedded-postgres/start-lock.ts'
import { newProject } from './hosts.ts'

const quiet = () => undefined

describe('the start lock', () => {
  test('lets one in at a time, and everybody in the end', async (t) => {
    const directory = newProject(t, null)
    let inside = 0
    let most = 0
    let done = 0
    const work = async () => {
      inside += 1
      most = Math.max(most, inside)
      await new Promise((resolve) => setImmediate(resolve))
      inside -= 1
      done += 1
    }
    await Promise.all(Array.from({ length: 20 }, () => withStartLock(directory, quiet, work)))
    assert.deepEqual([most, done], [1, 20])
    assert.ok(readdirSync(join(directory, 'lock')).length <= 2, 'used numbers are removed')
  })

  test('is let go when the work fails, with the work’s own error', async (t) => {
    const directory = newProject(t, null)
    const failing = withStartLock(directory, quiet, () => Promise.reject(new Error('no disk')))
    await assert.rejects(failing, /no disk/)
    assert.equal(await withStartLock(directory, quiet, async () => 'in'), 'in')
  })

  const dead = spawnSync(process.execPath, ['--version']).pid
  const mine = markOf(process.pid)
  const leftBehind: readonly { readonly what: string; readonly content: string }[] = [
    { what: 'a process that is gone', content: JSON.stringify({ pid: dead, startedAt: null }) },
    {
      what: 'a process whose number another one has now',
      content: JSON.stringify({ pid: process.pid, startedAt: 'an earlier boot/1' }),
    },
    { what: 'a power cut, empty', content: '' },
  ]
  for (const { what, content } of leftBehind) {
    test(`does not wait for ${what}`, async (t) => {
      const directory = newProject(t, null)
      mkdirSync(join(directory, 'lock'))
      writeFileSync(join(directory, 'lock', '7'), content)
      assert.equal(await withStartLock(directory, quiet, async () => 'in'), 'in')
      assert.deepEqual(readdirSync(join(directory, 'lock')), ['8'])
    })
  }

  test('waits for a holder that lives', async (t) => {
    const directory = newProject(t, null)
    mkdirSync(join(directory, 'lock'))
    writeFileSync(join(directory, 'lock', '1'), JSON.stringify(mine))
    const events: string[] = []
    const waiting = withStartLock(
      directory,
      (line) => {
        events.push(line)
        writeFileSync(join(directory, 'lock', '1'), '"nobody"')
      },
      async () => events.push('in'),
    )
    await waiting
    assert.equal(events.length, 2)
    assert.match(events[0] ?? '', new RegExp(`waiting for process ${process.pid}`))
  })
})
