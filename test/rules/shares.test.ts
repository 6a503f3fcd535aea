/** No merchant can take all places of a job. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineJobs } from '../../core/jobs/engine-jobs.ts'
import { sources } from '../rig/sources.ts'

test('each job gives a group a part of its places, or says why one merchant cannot fill them', () => {
  const faults = engineJobs().flatMap(({ name, concurrency, groupOf, ...job }) => {
    if (groupOf === undefined)
      return job.sharedBecause ? [] : [`${name} has no group and no reason`]
    const { concurrencyOfGroup = concurrency } = job
    return concurrencyOfGroup < concurrency ? [] : [`${name} gives a group all places`]
  })
  assert.deepEqual(faults, [])
})

test('work of a merchant alone is grouped by the merchant, and work at an acquirer by the connector', () => {
  const byMerchant = { merchantId: 'merchant' }
  const groups = engineJobs().flatMap(({ name, groupOf }) => {
    const group = (groupOf as ((payload: object) => string | undefined) | undefined)?.({
      ...byMerchant,
      connector: 'acquirer',
    })
    return group === undefined ? [] : [`${name}: ${group}`]
  })
  assert.deepEqual(groups.toSorted(), [
    'advance-clock: merchant',
    'capture: connector acquirer',
    'charge: merchant',
    'reconciliation: merchant',
    'report-cut: merchant',
    'report-delivery: merchant',
    'settlement-day: merchant',
    'settlement-effect: merchant',
    'settlement-fetch: connector acquirer',
    'settlement-retry: merchant',
  ])
})

test('merchants read in the lane of searches in turns alone', () => {
  const because: Readonly<Record<string, string>> = {
    'core/report/search-turns.ts': 'gives the turns',
    'core/audit-chain/trail.ts':
      'reads for operators alone, and those in turns leave it a connection',
  }
  const reading = ['core', 'plugins', 'host']
    .flatMap(sources)
    .filter(({ code }) => /\blanes\s*\.search\(/i.test(code))
    .map(({ file }) => file)
  assert.deepEqual(reading.toSorted(), Object.keys(because).toSorted())
})
