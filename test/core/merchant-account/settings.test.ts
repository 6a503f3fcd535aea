/** Settings that people agree to: what may be stored, and that everybody sees what changes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { definePlugin } from '@tollgate/plugin-kit'
import fc from 'fast-check'
import { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { ConfirmationNeededError, type Gateway } from '../../../core/index.ts'
import type { Field } from '../../../schemas/table.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'

const text = (name: string, kind: 'none' | 'secret', multiline = false): Field => ({
  name,
  format: { kind: 'text', min: 1, max: 5_000, ...(multiline ? { multiline: true as const } : {}) },
  need: 'O',
  direction: 'request',
  class: kind,
  meaning: 'A setting.',
  options: {},
})
/** Names that stand for secrets elsewhere, too. */
const account = {
  ...acquirerJson.account!,
  fields: [
    text('merchantId', 'none'),
    text('iban', 'none'),
    text('tokenUrl', 'none'),
    text('note', 'none', true),
    text('apiKey', 'secret'),
    text('clientKey', 'secret', true),
  ],
}
const pem = '-----BEGIN PRIVATE KEY-----\nMC4CAQAw\n-----END PRIVATE KEY-----\n'

describe('settings of acquirer accounts', () => {
  let run: TestGateway
  let strict: Gateway

  before(async () => {
    run = await startGateway({
      role: 'api',
      plugins: [
        definePlugin({
          name: 'settings',
          contract: 1,
          connectors: [{ ...acquirerJson, name: 'any', account }],
        }),
      ],
      connectors: { any: { url: 'https://bank.example' } },
    })
    strict = await run.another({ fourEyes: true })
  })
  after(() => run.close())

  const add = (settings: object) =>
    run.gateway.accounts.add({
      channelId: run.channel,
      connector: 'any',
      mode: 'EXTERNAL',
      settings: settings as Record<string, unknown>,
    })
  const trail = async (id: string) =>
    (
      await run.sql<{ before: Settings; after: Settings }>(
        'select before, after from tollgate.audit where resource = $1 order by at, id',
        [id],
      )
    ).at(-1)!
  type Settings = { readonly settings: Readonly<Record<string, string>> }
  /** What the second person sees of a change that one person proposes. */
  async function proposed(id: string, settings: object): Promise<Settings & { was: Settings }> {
    const thrown = await strict.accounts.set(id, { settings: settings as never }).then(
      () => assert.fail('one person was enough'),
      (error) => error,
    )
    assert.ok(thrown instanceof ConfirmationNeededError, String(thrown))
    const [row] = await run.sql<{ facts: Settings & { was: Settings } }>(
      'select facts from tollgate.proposal where id = $1',
      [thrown.proposal],
    )
    // One person may have a few open proposals only.
    await run.sql('update tollgate.proposal set rejected_at = now() where id = $1', [
      thrown.proposal,
    ])
    return row!.facts
  }

  test('numbers with the check digit of a card and names like secrets are shown whole', async () => {
    const before = { merchantId: '9999299999999', iban: 'DE89370400440532013000' }
    const after = { merchantId: '9999199999990', tokenUrl: 'https://bank.example/token' }
    const id = await add(before)
    const facts = await proposed(id, after)
    assert.deepEqual(facts.was.settings, before)
    assert.deepEqual(facts.settings, { ...before, ...after })
    await run.gateway.accounts.set(id, { settings: after })
    const row = await trail(id)
    assert.deepEqual([row.before.settings, row.after.settings], [before, { ...before, ...after }])
  })

  test('a change of a number that is taken is seen by the second person, whatever the number', async () => {
    const id = await add({ merchantId: 'shop-1' })
    const digits = fc.stringMatching(/^[1-9][0-9]{11,19}$/)
    let seen = 0
    await fc.assert(
      fc.asyncProperty(digits, digits, async (one, other) => {
        if (one === other) return
        const isTaken = await run.gateway.accounts.set(id, { settings: { merchantId: one } }).then(
          () => true,
          () => false,
        )
        const facts = await proposed(id, { merchantId: other }).catch(() => undefined)
        if (!isTaken || facts === undefined) return
        seen += 1
        assert.deepEqual([facts.was.settings.merchantId, facts.settings.merchantId], [one, other])
      }),
      { numRuns: 40 },
    )
    assert.ok(seen > 10)
  })

  test('a merchant number with the check digit of a card number is taken, and shown whole', async () => {
    const id = await add({ merchantId: '4200200000001111' })
    const facts = await proposed(id, { merchantId: '4111111111111111' })
    assert.deepEqual(
      [facts.was.settings.merchantId, facts.settings.merchantId],
      ['4200200000001111', '4111111111111111'],
    )
  })

  test('characters that no header and no text of the database can hold are refused by name', async () => {
    const id = await add({ merchantId: 'shop-1', apiKey: 'a' })
    const wrong = ['a\u0000b', '\ud800x', 'x\n', 'a\rb', 'a\u001b[2Jb', 'a\u009b31m']
    for (const value of wrong) {
      const attempts = [
        ['merchantId', () => run.gateway.accounts.set(id, { settings: { merchantId: value } })],
        ['apiKey', () => run.gateway.accounts.rotate(id, { apiKey: value })],
        ['apiKey', () => add({ apiKey: value })],
      ] as const
      for (const [name, attempt] of attempts) {
        const message = new RegExp(
          `(settings|secrets)\\.${name} (must have no control|has half of a surrogate)`,
        )
        await assert.rejects(attempt, message, JSON.stringify(value))
      }
    }
    for (const value of ['shop\u202e1', 'shop\u200b-1', 'shop\u2028']) {
      await assert.rejects(
        run.gateway.accounts.set(id, { settings: { merchantId: value } }),
        /merchantId must have no invisible characters/,
      )
    }
    await assert.rejects(
      run.gateway.accounts.rotate(id, { apiKey: { a: 'secret' } }),
      /apiKey must be a text/,
    )
    assert.deepEqual((await run.gateway.accounts.show(id)).settings, { merchantId: 'shop-1' })
  })

  test('a private key in an open setting is refused by name, and neither quoted nor stored', async () => {
    const id = await add({ merchantId: 'shop-1' })
    const both = `-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n${pem}`
    const one = '-----BEGIN RSA PRIVATE KEY-----MC4CAQAw-----END RSA PRIVATE KEY-----'
    for (const value of [both, pem, one]) {
      for (const attempt of [
        () => add({ note: value }),
        () => run.gateway.accounts.set(id, { settings: { note: value } }),
        () => strict.accounts.set(id, { settings: { note: value } }),
      ]) {
        await assert.rejects(attempt, (error: Error) => {
          assert.match(error.message, /settings\.note has a private key, .*: leave it out/)
          assert.doesNotMatch(String(error.stack), /MC4CAQAw/)
          return true
        })
      }
    }
    const stored = await run.sql<{ whole: string }>(
      `select row_to_json(audit)::text as whole from tollgate.audit
       union all select row_to_json(account)::text from tollgate.merchant_account as account
       union all select row_to_json(proposal)::text from tollgate.proposal`,
    )
    assert.ok(stored.length > 0 && stored.every(({ whole }) => !whole.includes('PRIVATE KEY')))
  })

  test('null and an empty text remove a secret that is not required', async () => {
    for (const nothing of [null, '']) {
      const id = await add({ merchantId: 'shop-1', apiKey: 'a', clientKey: 'c' })
      await run.gateway.accounts.rotate(id, { clientKey: nothing })
      assert.deepEqual((await run.gateway.accounts.show(id)).secrets, ['apiKey'])
    }
  })

  test('an undefined secret keeps its value', async () => {
    const id = await add({ merchantId: 'shop-1', apiKey: 'a', clientKey: 'c' })
    await run.gateway.accounts.rotate(id, { apiKey: 'b', clientKey: undefined })
    assert.deepEqual((await run.gateway.accounts.show(id)).secrets, ['apiKey', 'clientKey'])
    const rotated = run.gateway.accounts.rotate(id, { clientKey: undefined })
    await assert.rejects(rotated, /at least one secret/)
  })

  test('keys and certificates keep their lines, and so do settings whose table allows lines', async () => {
    const id = await add({ note: 'two\nlines', apiKey: pem, clientKey: 'two\nlines' })
    assert.deepEqual((await run.gateway.accounts.show(id)).settings, { note: 'two\nlines' })
    await assert.rejects(add({ clientKey: 'two\n\u0000lines' }), /clientKey must have no control/)
  })
})
