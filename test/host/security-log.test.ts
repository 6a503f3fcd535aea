/** Alarms are written at every log level. */
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import pino from 'pino'
import { securityLog } from '../../host/logging.ts'

for (const level of ['error', 'silent']) {
  test(`a line of the security log is written and marked at the level ${level}`, () => {
    const lines: string[] = []
    const screen = new Writable({
      write(line: Buffer, _, done) {
        lines.push(line.toString())
        done()
      },
    })
    const log = pino({ level, base: null }, screen)
    log.warn({}, 'what nobody asked for')
    securityLog(log).info({ anchor: '7:ab' }, 'the end of the audit trail')
    const [only, ...more] = lines.map((line) => JSON.parse(line))
    assert.deepEqual(more, [])
    assert.deepEqual([only.security, only.anchor], [true, '7:ab'])
  })
}
