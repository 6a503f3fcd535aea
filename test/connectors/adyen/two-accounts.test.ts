/** Two accounts of one merchant at one merchant account of Adyen, which sends every event to both. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { authorisationItem } from '../../../connectors/adyen/sandbox/messages.ts'
import { until } from '../../rig/gateway.ts'
import { type AdyenRun, abandoned, startAdyenRun } from './run.ts'

describe('two accounts at one merchant account of Adyen', () => {
  let run: AdyenRun
  let other: string
  before(async () => {
    run = await startAdyenRun()
    other = await run.addAccount()
  })
  after(() => run.close())

  test('a shopper who pays after all is taken back, whichever account hears of it first', async () => {
    const { id, there } = await abandoned(run)
    run.adyen.ledger.authorise(there)
    const authorised = run.adyen.message(authorisationItem(there))
    await run.tellTo(other, authorised)
    await run.tell(authorised)
    const key = await run.keyOf(id)
    await until(async () => {
      if (run.adyen.ledger.undoOf(key)?.state === 'asked') return true
      await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
      return undefined
    })
    assert.deepEqual(await run.listed(id), ['conflict'], 'until Adyen tells the end')
    run.adyen.ledger.endUndo(key, 'by itself')
    const end = run.adyen.messageAbout(key)
    await run.tellTo(other, end)
    await run.tell(end)
    await until(async () => ((await run.listed(id)).length === 0 ? true : undefined))
    assert.equal(there.isUndone, true)
  })
})
