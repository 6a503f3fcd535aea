/** An answer tells nothing about what is wrong with a token. The durations are printed: a busy machine is no fault. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startWithWallets, type WalletRun, walletFields } from '../../rig/wallets.ts'
import { printed, sendAltered } from './altered-tokens.ts'

const many = 300

describe('altered tokens', () => {
  let run: WalletRun
  before(async () => {
    run = await startWithWallets()
  })
  after(() => run.close())

  for (const field of walletFields) {
    describe(field, () => {
      test(`${many} of them get one text, and none opens as another card`, async (context) => {
        const found = await sendAltered(run, field, many)
        assert.equal(found.answers.length, 1, found.answers.join('\n'))
        assert.equal(found.opened, 0)
        assert.ok(found.refused > 0.9 * many)
        assert.ok(found.within.size > 3, 'for different reasons')
        for (const line of printed('request', found.outside)) context.diagnostic(line)
      })
    })
  }

  test('nothing was written and nothing was sent', async () => {
    const rows = await run.sql(`select id::text from tollgate.payment
      union all select payment_id::text from tollgate.wallet_replay`)
    assert.deepEqual(rows, [])
    assert.deepEqual(run.acquirer.calls, [])
  })
})
