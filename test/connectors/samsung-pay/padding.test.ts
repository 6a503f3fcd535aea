/** A padding of RSA that is wrong anywhere gives the other key, of the same length, and no error. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { unpadded } from '../../../connectors/samsung-pay/token.ts'

const instead = Buffer.alloc(16, 0xee)
const secret = randomBytes(16)

/** 0, 2, at least eight bytes that are not zero, 0, the key. */
function block(size = 256): Buffer {
  const padding = randomBytes(size - 19).map((byte) => byte || 1)
  return Buffer.concat([Buffer.from([0, 2]), padding, Buffer.from([0]), secret])
}

test('a right padding gives the key', () => {
  for (let round = 0; round < 200; round += 1) assert.deepEqual(unpadded(block(), instead), secret)
  const zeros = Buffer.concat([block().subarray(0, 240), Buffer.alloc(16)])
  assert.deepEqual(unpadded(zeros, instead), Buffer.alloc(16), 'a key may be zeros')
})

test('each of the first two bytes must be right', () => {
  for (const at of [0, 1]) {
    for (let byte = 0; byte < 256; byte += 1) {
      const wrong = block()
      wrong[at] = byte
      assert.deepEqual(unpadded(wrong, instead), byte === [0, 2][at] ? secret : instead)
    }
  }
})

test('the key has exactly the asked length: a zero before or elsewhere is wrong', () => {
  for (let at = 2; at < 239; at += 1) {
    const wrong = block()
    wrong[at] = 0
    assert.deepEqual(unpadded(wrong, instead), instead, `zero at ${at}`)
  }
  for (let byte = 1; byte < 256; byte += 1) {
    const wrong = block()
    wrong[239] = byte
    assert.deepEqual(unpadded(wrong, instead), instead, `${byte} in place of the end`)
  }
})
