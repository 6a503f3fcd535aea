/** A fault run that is ended by a signal leaves no process and no folder behind. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { scratchFolder } from '../rig/cluster.ts'
import { until } from '../rig/gateway.ts'
import { bundled } from '../rig/programs.ts'
import { sampled } from '../rig/scope.ts'

/** Processes that descend from this one, also those whose parent is gone: a run marks their environment. */
function marked(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark)
      } catch {
        return false
      }
    })
    .map(Number)
}

for (const signal of sampled(['SIGTERM', 'SIGINT'] as const, 1)) {
  test(`a run ended by ${signal} takes its acquirer, hosts and PostgreSQL with it`, async () => {
    const mark = `FAULT_RUN_OF_TEST=${process.pid}-${signal}`
    const [name = '', value = ''] = mark.split('=')
    const program = await bundled('test/faults/main.ts')
    const child = spawn(process.execPath, [program, '--seed', '1', '--minutes', '5'], {
      env: { ...process.env, [name]: value },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    const ended = once(child, 'close')
    const underWay = Promise.withResolvers<void>()
    ended.then(([code]) => underWay.reject(new Error(`the run ended with ${code}: ${out}`)))
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        out += chunk.toString()
        if (/seed 1, profile short/.test(out)) underWay.resolve()
      })
    }
    await underWay.promise
    assert.ok(marked(mark).length > 4, 'the hosts, the acquirer and the run itself')
    child.kill(signal)
    const [code] = await ended
    assert.equal(code, 130, out)
    assert.match(out, new RegExp(`${signal}: the run ends`))
    await until(async () => (marked(mark).length === 0 ? true : undefined))
    const folders = readdirSync(scratchFolder()).filter((one) => one.includes(`-${child.pid}-`))
    assert.deepEqual(folders, [])
  })
}
