/** Messages whose event the account knows already: they cost little, and lost answers of the database lose no work. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closeChecked } from '../../rig/books.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'
import { countStatements, type StatementCounter } from '../../rig/statement-counter.ts'
import { chargeback, type SharedRun, startShared } from './shared-number.ts'

describe('messages that come again', () => {
  let counter: StatementCounter
  let run: SharedRun
  before(async () => {
    run = await startShared({
      role: 'api',
      through: async (url) => {
        counter = await countStatements(url)
        return counter.url
      },
    })
  })
  after(async () => {
    await closeChecked(run)
    await counter.close()
  })

  for (const at of ['account', 'other'] as const) {
    test(`a repeat costs two statements, one of which finds the account: ${at}`, async () => {
      const { id } = await run.debit(`repeated-${at}`)
      const about = { eventId: `repeated-${at}`, key: await run.keyOf(id), outcome: chargeback }
      await run.bring(run[at], about)
      await run.outcomeAt(run.account, about.eventId)
      await run.outcomeAt(run[at], about.eventId)
      const costs = []
      // Statements of other work can come between.
      for (let no = 0; no < 5; no += 1) {
        const from = counter.count()
        await run.bring(run[at], about)
        costs.push(counter.count() - from)
      }
      assert.equal(Math.min(...costs), 2, `${costs}`)
      assert.deepEqual(await run.listed(id), [])
    })
  }
})

describe('messages whose commit loses its connection', () => {
  let line: Line
  let run: SharedRun
  before(async () => {
    run = await startShared({
      // Nothing but the message itself begins the work.
      role: 'api',
      through: async (url) => {
        line = await lineTo(url)
        return line.url
      },
    })
  })
  after(async () => {
    await closeChecked(run)
    await line.close()
  })

  for (const at of ['account', 'other'] as const)
    for (const when of ['before', 'after'] as const) {
      test(`the event is stored and carried out: ${at}, ${when} the commit`, async () => {
        const eventId = `cut-${at}-${when}`
        const { id } = await run.debit(eventId)
        const key = await run.keyOf(id)
        const cut = line.cut('commit', when)
        await run.bring(run[at], { eventId, key, outcome: chargeback })
        await cut
        assert.equal(await run.outcomeAt(run.account, eventId), 'recorded')
        assert.deepEqual(await run.listed(id), [])
      })
    }
})
