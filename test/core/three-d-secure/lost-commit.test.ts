/** The commit that goes on to the money, on a line to the database that breaks at that moment. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type AuthenticatingRun, startAuthenticating } from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { charged } from '../../rig/late-words.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'

describe('going on to the money on a broken line', () => {
  let run: AuthenticatingRun
  let line: Line
  before(async () => {
    run = await startAuthenticating({
      through: async (url) => {
        line = await lineTo(url)
        return line.url
      },
    })
    await run.authenticated('warmed-up')
  })
  after(async () => {
    await closeChecked(run)
    await line.close()
  })

  const goingOn = () => {
    const found = run.gateway.statements().filter(({ text }) => text.includes('gone_on as ('))
    assert.equal(found.length, 1)
    return found[0]!.name
  }

  for (const when of ['before', 'after'] as const) {
    test(`cut ${when} the commit: the shopper pays once`, async () => {
      const { id, token } = await run.away(`cut-${when}-commit`, {})
      const cut = line.cut(goingOn(), when)
      await run.back(id, token)
      await cut
      assert.equal(await run.code(id), charged)
      assert.deepEqual(run.acquirer.of(`cut-${when}-commit`), ['debit'])
      assert.deepEqual(await run.attempt(id), { stage: 'money', state: 'approved', lease: 3 })
    })

    test(`cut ${when} the commit of a payment without a challenge: it pays once`, async () => {
      const cut = line.cut(goingOn(), when)
      const view = await run.authenticated(`cut-${when}-at-once`)
      await cut
      assert.equal(view.result.code, charged)
      assert.deepEqual(run.acquirer.of(`cut-${when}-at-once`), ['debit'])
    })
  }
})
