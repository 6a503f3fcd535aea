/** Short ids of several pods: no two are equal, and pod 0 gives out those that a single database always gave. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { highestPod, shortId, shortNo, shortNoOf } from '../../../core/ids.ts'
import { startGateway } from '../../rig/gateway.ts'

const ofPodZero = 500_000_000_000n
const ofPod = 10_000_000_000n
const pods = fc.integer({ min: 0, max: highestPod })
const counts = fc.bigInt({ min: 1n, max: 999_999_999_999n })

describe('short ids of pods', () => {
  test('pod 0 gives out the numbers of its sequence, as before there were pods', () => {
    for (const count of [1n, 1001n, 123_456_789n, ofPodZero]) {
      assert.equal(shortNoOf(0, count), count)
    }
    assert.equal(shortId(shortNoOf(0, 1n)), shortId(1n))
  })

  test('two pods never give out the same number', () => {
    const range = (pod: number) => {
      const size = pod === 0 ? ofPodZero : ofPod
      return { first: shortNoOf(pod, 1n), last: shortNoOf(pod, size), size }
    }
    let before = 0n
    for (let pod = 0; pod <= highestPod; pod += 1) {
      const { first, last, size } = range(pod)
      assert.equal(first, before + 1n, `pod ${pod} begins after the one before`)
      assert.equal(last, before + size)
      before = last
    }
    assert.ok(before < 10n ** 12n, 'every number has a short id of its own')
    fc.assert(
      fc.property(pods, pods, counts, counts, (one, other, ofOne, ofOther) => {
        fc.pre(one !== other)
        return shortNoOf(one, ofOne) !== shortNoOf(other, ofOther)
      }),
    )
  })

  test('a short id leads back to the number behind it', () => {
    fc.assert(
      fc.property(pods, counts, (pod, count) => {
        const no = shortNoOf(pod, count)
        return shortNo(shortId(no)) === Number(no)
      }),
    )
  })

  test('a pod begins again after its last number, and a block stays within the pod', () => {
    assert.equal(shortNoOf(0, ofPodZero + 1n), 1n)
    assert.equal(shortNoOf(3, ofPod + 1n), shortNoOf(3, 1n))
    for (const pod of [0, 1, highestPod]) {
      const size = pod === 0 ? ofPodZero : ofPod
      // The last block of a round: sequences count in thousands.
      const first = size - 999n
      assert.equal(shortNoOf(pod, first) + 999n, shortNoOf(pod, size))
    }
  })

  test('payments, registrations and schedules of a pod have its numbers, and are found by them', async () => {
    const first = await startGateway()
    const installationKey = await first.gateway.installationKey()
    const second = await startGateway({ pod: { number: 7, installationKey } })
    try {
      const here = await second.pay({ createRegistration: 'true' })
      const rows = await second.sql<{ short_no: bigint }>(
        'select short_no from tollgate.payment union all select short_no from tollgate.registration',
      )
      assert.equal(rows.length, 2)
      for (const { short_no } of rows) {
        assert.ok(
          short_no > shortNoOf(7, 1n) - 1n && short_no <= shortNoOf(7, ofPod),
          `${short_no}`,
        )
      }
      const found = await second.gateway.inspect(here.shortId)
      assert.ok('id' in found && found.id === here.id)
      const { shortId: there } = await first.pay()
      assert.ok(shortNo(there)! <= Number(ofPodZero))
      const elsewhere = second.gateway.inspect(there)
      await assert.rejects(elsewhere, (error) => (error as { status?: number }).status === 404)
    } finally {
      await second.close()
      await first.close()
    }
  })
})
