/** The table of late words and the sums alone: random lives of payments, without a database. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { minus, moveBetween, noSums, type Place, shares } from '../../core/payment/balance-rules.ts'
import { lateWords } from '../../core/payment/late-word-table.ts'
import type { Effect } from '../../core/payment/operation-kinds.ts'
import { happeningsOf, liveMany } from './late-table/lives.ts'

describe('the table of late words', () => {
  test('every move has its inverse: sums, captures and the mark', () => {
    const places: readonly Place[] = ['open', 'done', 'gone']
    for (const effect of Object.keys(shares) as Effect[]) {
      for (const from of places) {
        for (const to of places) {
          const there = moveBetween(effect, 9200n, from, to, true)
          const back = moveBetween(effect, 9200n, to, from, true)
          assert.deepEqual(minus(noSums, there.own), back.own)
          assert.deepEqual(minus(noSums, there.returned), back.returned)
          assert.equal(there.mark?.name, back.mark?.name)
          assert.ok(there.mark === null || there.mark.is !== back.mark?.is)
        }
      }
    }
  })

  test('the random lives include every treatment', () => {
    const happened = [...happeningsOf(2000).keys()].map((what) => what.split(': ')[1])
    const treatments = new Set(Object.values(lateWords).flatMap((words) => Object.values(words)))
    // Open payments are settled or enquired, so their treatments are no late ones.
    for (const treatment of ['settle', 'enquire'] as const) treatments.delete(treatment)
    assert.deepEqual(
      [...treatments].filter((treatment) => !happened.includes(treatment)),
      [],
    )
  })

  test('the money of every tree of payments is accounted for', () => liveMany(5000))
})
