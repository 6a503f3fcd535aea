/** Every limit of the SFTP server is a number, also where a program gives something else. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sftpServer } from '@tollgate/file-server'
import {
  defaultLimits,
  limitsWith,
  type ServerLimits,
} from '../../../plugins/file-server/limits.ts'

const names = Object.keys(defaultLimits) as (keyof ServerLimits)[]

test('a limit that is undefined keeps its default, and another number replaces it', () => {
  assert.deepEqual(limitsWith({}), defaultLimits)
  for (const name of names) {
    assert.deepEqual(limitsWith({ [name]: undefined }), defaultLimits)
    assert.deepEqual(limitsWith({ [name]: 7 }), { ...defaultLimits, [name]: 7 })
  }
})

test('anything else than a whole number above 0 is refused by the name of the limit', () => {
  const wrong: unknown[] = [Number.NaN, 0, -1, 1.5, Number.POSITIVE_INFINITY, '10', 'ten', null, {}]
  for (const name of names) {
    for (const value of wrong) {
      assert.throws(
        () => sftpServer({ [name]: value }),
        (error) =>
          error instanceof TypeError &&
          error.message.startsWith(`sftpServer: ${name} must be a whole number from 1 to `),
      )
    }
  }
  assert.throws(() => sftpServer({ idleMs: 2 ** 31 }), /from 1 to 2147483647, not 2147483648/)
  assert.throws(() => sftpServer({ strangersPerNetwork: 'ten' as never }), /, not 'ten'$/)
})

test('a misspelt limit is refused', () => {
  const misspelt = { strangerPerNetwork: 5 } as Partial<ServerLimits>
  assert.throws(
    () => sftpServer(misspelt),
    /^TypeError: sftpServer has no limit "strangerPerNetwork"$/,
  )
})
