/** Two accounts with one merchant number: the acquirer sends each event to both addresses, or to one. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { definePlugin, settings } from '@tollgate/plugin-kit'
import {
  type AcquirerRun,
  message,
  processed,
  scriptedAcquirer,
  scriptedName,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'

const chargeback = { is: 'chargeback', reason: '000.100.220', refs: {} }

function withNumbers() {
  const acquirer = scriptedAcquirer()
  const connector = {
    ...acquirer.plugin.connectors![0]!,
    account: settings('Account', [
      ['number', { kind: 'text', min: 1, max: 32 }, 'O', 'request', 'none', 'Merchant number.'],
    ]),
    settlement: {
      format: 'SCRIPTED',
      institute: 'Scripted',
      zone: 'UTC',
      refs: ['reference'] as const,
      merchantOf: ({ number }: Record<string, unknown>) => String(number ?? ''),
      async *parse() {},
    },
  }
  return {
    ...acquirer,
    plugin: definePlugin({ ...acquirer.plugin, connectors: [connector as never] }),
  }
}

describe('accounts with one merchant number', () => {
  let run: AcquirerRun
  const accounts: Record<string, string> = {}
  before(async () => {
    run = await startWithAcquirer({ acquirer: withNumbers() })
    const { entities } = run.gateway
    const at = async (parentId: string, number?: string) => {
      const channelId = await entities.create({ kind: 'channel', name: 'Another', parentId })
      return entities.createAccount({
        channelId,
        connector: scriptedName,
        mode: 'EXTERNAL',
        settings: number === undefined ? {} : { number },
      })
    }
    await run.gateway.accounts.set(run.account, { settings: { number: 'MID-1' } })
    const [division] = await run.sql<{ id: string }>(
      `select replace(parent_id::text, '-', '') as id from tollgate.entity where id = $1`,
      [run.merchant],
    )
    const merchant = await entities.create({
      kind: 'merchant',
      name: 'Another merchant',
      parentId: division!.id,
    })
    accounts.same = await at(run.merchant, ' mid-1')
    accounts.other = await at(run.merchant, 'MID-2')
    accounts.unnamed = await at(run.merchant)
    accounts.stranger = await at(merchant, 'MID-1')
  })
  after(() => closeChecked(run))

  const told = async (account: string, about: Parameters<typeof message>[0]) => {
    await run.gateway.inbound(scriptedName, account, message(about))
    return processed(run, about.eventId)
  }
  const listed = () => run.sql('select 1 from tollgate.attention where resolved_at is null')

  test('a chargeback that came to the other address is recorded, once', async () => {
    const { id } = await run.debit('sold-once')
    const key = await run.keyOf(id)
    const about = { key, outcome: chargeback, reference: 'case-1' }
    assert.equal(await told(accounts.same!, { ...about, eventId: 'to-other' }), 'recorded')
    assert.equal(await told(run.account, { ...about, eventId: 'to-own' }), 'known')
    await assert.rejects(run.gateway.payments.refund(id, { amount: '5.00', currency: 'EUR' }), {
      code: '700.300.600',
    })
    assert.deepEqual(await listed(), [])
  })

  test('an approval that came to both addresses is no news for the second', async () => {
    const { id } = await run.debit('sold-twice-told')
    const key = await run.keyOf(id)
    const outcome = { is: 'approved', refs: { reference: `at-${key}` } }
    assert.equal(await told(accounts.same!, { eventId: 'twice-1', key, outcome }), 'known')
    assert.equal(await told(run.account, { eventId: 'twice-2', key, outcome }), 'known')
    assert.deepEqual(await listed(), [])
  })

  test('another number, no number and another merchant prove nothing', async () => {
    const { id } = await run.debit('sold-elsewhere')
    const key = await run.keyOf(id)
    for (const name of ['other', 'unnamed', 'stranger']) {
      const about = { eventId: `by-${name}`, key, outcome: chargeback, reference: name }
      assert.equal(await told(accounts[name]!, about), 'other-account')
    }
    assert.deepEqual(
      await run.sql('select 1 from tollgate.chargeback where payment_id = $1', [id]),
      [],
    )
    assert.equal((await listed()).length, 3)
  })
})
