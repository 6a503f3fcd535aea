/** Messages of acquirers that are malformed, too long, too many or misread by their connector. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Inbound, Sensitive } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { message, processed, proof, scriptedName, sentAgain } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  card,
  chargeback,
  charged,
  type Entry,
  failure,
  lost,
  type MessageRun,
  startMessages,
} from './message-run.ts'

describe('messages that cannot be read', () => {
  let run: MessageRun
  before(async () => {
    run = await startMessages()
  })
  after(() => run.close())

  describe('malformed messages', () => {
    const money = { minor: 9200n, currency: 'EUR' }
    const whole = { key: 'malformed', outcome: approval, amount: money }
    const malformed: Record<string, unknown> = {
      nothing: undefined,
      'no claim': `paid with ${card}`,
      'an amount that is null': { ...whole, amount: null },
      'an amount that is a number': { ...whole, amount: { minor: 9200, currency: 'EUR' } },
      'a negative amount': { ...whole, amount: { minor: -1n, currency: 'EUR' } },
      'an amount beyond any': { ...whole, amount: { minor: 2n ** 63n, currency: 'EUR' } },
      'no currency': { ...whole, amount: { minor: 9200n } },
      'a currency that is none': { ...whole, amount: { minor: 9200n, currency: 'EURO' } },
      'a currency without money': { ...whole, amount: { minor: 9200n, currency: 'XAU' } },
      'no key': { ...whole, key: undefined },
      'a key that is too long': { ...whole, key: 'k'.repeat(256) },
      'a key that nobody can see': { ...whole, key: ' ' },
      'no outcome': { ...whole, outcome: null },
      'an outcome that does not exist': { ...whole, outcome: { is: 'perhaps' } },
      'an approval without references': { ...whole, outcome: { is: 'approved' } },
      'an approval of no amount': { ...whole, outcome: { ...approval, amount: null } },
      'references that are numbers': { ...whole, outcome: { ...chargeback, refs: { id: 1 } } },
      'a secret in a reference': {
        ...whole,
        outcome: { ...approval, refs: { card: new Sensitive(card) } },
      },
      'a secret far inside': {
        ...whole,
        outcome: { ...approval, memo: { deep: [new Sensitive(card)] } },
      },
      'a memo that is no JSON': { ...whole, outcome: { ...approval, memo: { big: 1n } } },
      'an acquirer reference that is none': { ...whole, reference: '' },
      'a chargeback of nothing': { ...whole, outcome: chargeback, amount: { ...money, minor: 0n } },
      'a card number in a name': { ...whole, amount: null, [card]: card },
    }

    test('malformed claims are quarantined in one entry, and the other claims of the message count', async () => {
      const { id } = await run.debit('beside-malformed', { debit: lost })
      const bad = Object.entries(malformed).map(([what, claim]) =>
        typeof claim === 'object' ? { ...claim, eventId: what.replaceAll(' ', '-') } : claim,
      )
      const throwing = { ...whole, eventId: 'throws' }
      Object.defineProperty(throwing, 'amount', {
        enumerable: true,
        get: () => {
          throw new Error(card)
        },
      })
      const good = { eventId: 'well', key: await run.keyOf(id), outcome: approval, amount: money }
      const parse = () => [...bad, throwing, good] as never
      const before = await run.sql('select 1 from tollgate.attention')
      const unproven = { parse: () => [...bad, throwing] as never }
      await run.doing(unproven, () => run.forge({ eventId: '-', key: '-', outcome: approval }))
      const unchanged = await run.sql('select 1 from tollgate.attention')
      assert.equal(unchanged.length, before.length, 'unproven messages cannot fill the list')
      await run.doing({ parse }, () =>
        run.tell(message({ eventId: '-', key: '-', outcome: approval })),
      )
      assert.equal(await processed(run, 'well'), 'settled')
      const entries = await run.sql<Entry>(
        `select kind, reference, payment_id, detail from tollgate.attention
         where detail ->> 'why' like 'malformed: % claims of one message'`,
      )
      const [entry, ...more] = entries as [Entry, ...Entry[]]
      assert.deepEqual(more, [])
      assert.deepEqual([entry.kind, entry.payment_id], ['event', null])
      const { why, claims, others } = entry.detail as {
        why: string
        claims: { eventId: string | null; content: string }[]
        others: [string | null, string | null][]
      }
      assert.equal(why, `malformed: ${bad.length + 1} claims of one message`)
      assert.equal(claims.length, limits.eventEchoes)
      assert.equal(claims.length + others.length, bad.length + 1)
      const named = new Set([...claims.map(({ eventId }) => eventId), ...others.map(([id]) => id)])
      for (const [what, claim] of Object.entries(malformed)) {
        if (typeof claim !== 'object') continue
        const eventId = what.replaceAll(' ', '-')
        assert.ok(named.has(eventId), eventId)
        assert.equal(await run.rowOf(eventId), undefined)
      }
      await run.doing({ parse }, () =>
        run.tell(message({ eventId: '-', key: '-', outcome: approval })),
      )
      const all = JSON.stringify([
        entries,
        run.logs,
        await run.sql('select claim from tollgate.inbound_event'),
      ])
      assert.doesNotMatch(all, new RegExp(card))
      const after = await run.sql('select 1 from tollgate.attention')
      assert.equal(after.length, before.length + entries.length)
    })

    test('messages are limited in bytes and in claims', async () => {
      const say = (outcome: object, headers?: Record<string, string>) =>
        run.tell(message({ eventId: 'too-much', key: 'too-much', outcome }, headers))
      const huge = { ...approval, text: '4 '.repeat(limits.messageBytes / 2) }
      await assert.rejects(say(huge), { status: 400, code: '200.300.404' })
      const parse = () => Array.from({ length: limits.claimsPerMessage + 1 }, () => whole) as never
      await run.doing({ parse }, () => sentAgain(say(approval)))
      const long = { ...chargeback, text: `${'4 '.repeat(limits.claimCharacters)}${card}` }
      await say(long)
      const [entry, ...more] = await run.listed('too-much')
      assert.deepEqual(more, [])
      const { why, content } = entry!.detail as { why: string; content: string }
      assert.equal(why, 'malformed: it is too long')
      assert.equal(content.length, limits.eventEchoCharacters)
      assert.equal(await run.rowOf('too-much'), undefined)
    })

    test('unproven claims are limited, although none of them is stored', async () => {
      const account = await run.gateway.entities.createAccount({
        channelId: run.channel,
        connector: scriptedName,
        mode: 'EXTERNAL',
        settings: {},
      })
      const say = (headers: Record<string, string>) =>
        run.gateway.inbound(
          scriptedName,
          account,
          message({ eventId: 'flooded', key: 'flooded', outcome: null }, headers),
        )
      const parse = () => Array.from({ length: limits.claimsPerMessage }, () => null) as never
      await run.doing({ parse }, async () => {
        for (let left = limits.unverifiedEvents; left > 0; left -= limits.claimsPerMessage) {
          await sentAgain(say({}))
        }
      })
      let parsed = 0
      const reading = () => {
        parsed += 1
        return []
      }
      await run.doing({ parse: reading }, () => assert.rejects(say({}), { status: 429 }))
      assert.equal(parsed, 0, 'a message beyond the limit is not read')
      await say(proof)
    })

    test("one address uses up its own share of unproven messages, and no other's", async () => {
      const account = await run.gateway.entities.createAccount({
        channelId: run.channel,
        connector: scriptedName,
        mode: 'EXTERNAL',
        settings: {},
      })
      let no = 0
      const say = (address: string, headers: Record<string, string> = {}) => {
        no += 1
        const about = { eventId: `from-${address}-${no}`, key: 'nobody', outcome: failure }
        return run.gateway.inbound(scriptedName, account, message(about, headers), address)
      }
      const parse = () => Array.from({ length: limits.unverifiedEventsPerAddress }, () => null)
      await run.doing({ parse: parse as never }, () => sentAgain(say('203.0.113.1')))
      await assert.rejects(say('203.0.113.1'), { status: 429 })
      await say('203.0.113.1', proof)
      await sentAgain(say('203.0.113.2'))
    })

    test('an unproven message without claims uses up the share of its address, too', async () => {
      const account = await run.gateway.entities.createAccount({
        channelId: run.channel,
        connector: scriptedName,
        mode: 'EXTERNAL',
        settings: {},
      })
      let no = 0
      const say = () => {
        no += 1
        const about = { eventId: `empty-${no}`, key: 'nobody', outcome: failure }
        return run.gateway.inbound(scriptedName, account, message(about, {}), '203.0.113.9')
      }
      const parse = () => Array.from({ length: limits.unverifiedEventsPerAddress - 1 }, () => null)
      await run.doing({ parse: parse as never }, () => sentAgain(say()))
      await run.doing({ parse: () => [] }, async () => {
        await sentAgain(say())
        await assert.rejects(say(), { status: 429 })
      })
    })

    test('a message for an unknown account is not read', async () => {
      const read = async (): Promise<Inbound> => assert.fail('it was read')
      const nul = String.fromCharCode(0)
      for (const account of ['nobody', 'f'.repeat(32), nul, `a${nul}`, 'x'.repeat(11_000)]) {
        await assert.rejects(run.gateway.inbound(scriptedName, account, read), { status: 404 })
        await assert.rejects(run.gateway.inbound(account, run.account, read), { status: 404 })
      }
    })

    test('event ids have 1 to 255 visible characters', async () => {
      const key = 'f'.repeat(32)
      for (const eventId of ['', ' ', 'a b', 'a\u0000', '\ud800', '\u202e', 'x'.repeat(256)]) {
        await run.tell(message({ eventId, key, outcome: failure }))
        await run.forge({ eventId, key, outcome: failure })
      }
      const rows = await run.sql('select 1 from tollgate.inbound_event where claim ->> $1 = $2', [
        'key',
        key,
      ])
      assert.deepEqual(rows, [])
      const longest = 'x'.repeat(255)
      await run.tell(message({ eventId: longest, key, outcome: failure }))
      await until(async () => ((await run.rowOf(longest))!.waits > 0 ? true : undefined))
    })

    test('an approved amount that differs from the requested one causes an enquiry', async () => {
      const { id } = await run.debit('done-partly', { debit: lost })
      const key = await run.keyOf(id)
      const outcome = { ...approval, amount: { minor: 100n, currency: 'EUR' } }
      const parse = () => [{ eventId: 'partly-1', key, outcome, amount: money }] as never
      await run.doing({ parse }, () =>
        run.tell(message({ eventId: '-', key: '-', outcome: approval })),
      )
      assert.equal(await processed(run, 'partly-1'), 'enquired')
      assert.notEqual(await run.code(id), charged)
    })
  })

  describe('connectors that misread messages', () => {
    const some = (eventId: string) => message({ eventId, key: 'k', outcome: failure })
    const later = (error: { status: number; retryAfterSeconds?: number }) => {
      assert.equal(error.status, 503)
      assert.ok(Number(error.retryAfterSeconds) > 0)
      return true
    }

    test('a proven message that its connector cannot read is 503, and operators see one entry of the day', async () => {
      const boom = () => {
        throw new Error(card)
      }
      const unread = () =>
        run.sql<{ kind: string; reference: string; detail: { why: string } }>(
          "select kind, reference, detail from tollgate.attention where reference like '%unread on%'",
        )
      await run.sql("delete from tollgate.attention where reference like '%unread on%'")
      for (const parse of [boom, () => undefined, () => 'text', () => ({}), async () => boom()]) {
        await run.doing({ parse: parse as never }, async () => {
          await run.forge({ eventId: 'no-1', key: 'k', outcome: failure })
          assert.deepEqual(await unread(), [], 'a stranger cannot fill the list')
        })
      }
      for (const parse of [boom, () => ({}), async () => boom()]) {
        await run.doing({ parse: parse as never }, () => sentAgain(run.tell(some('no-1'))))
      }
      const [entry, ...more] = await unread()
      assert.deepEqual(more, [])
      assert.equal(entry?.kind, 'event')
      assert.match(entry!.reference, new RegExp(`^${scriptedName} ${run.account} unread on 2`))
      assert.match(entry!.detail.why, /the connector cannot read a proven message/)
      assert.doesNotMatch(JSON.stringify([entry, run.logs]), new RegExp(card))
      assert.equal(await run.rowOf('no-1'), undefined)
      await run.tell(some('no-1'))
      assert.notEqual(await run.rowOf('no-1'), undefined, 'a connector that reads it keeps it')
    })

    test('a message whose proof cannot be checked is 503, so that the acquirer repeats it, and is not read', async () => {
      let parsed = 0
      const parse = () => {
        parsed += 1
        return []
      }
      const boom = () => {
        throw new Error('the key server is down')
      }
      for (const verify of [boom, async () => boom(), () => new Promise<boolean>(() => {})]) {
        await run.doing({ verify, parse }, () => assert.rejects(run.tell(some('no-2')), later))
      }
      assert.equal(parsed, 0)
      const checking = Promise.withResolvers<boolean>()
      await run.doing({ verify: () => checking.promise, parse }, async () => {
        const told = run.tell(some('no-2'))
        await new Promise(setImmediate)
        assert.equal(parsed, 0, 'an unproven message is not read')
        checking.resolve(true)
        await told
      })
      assert.equal(parsed, 1)
      assert.equal(await run.rowOf('no-2'), undefined)
    })

    test('messages whose proof cannot be checked count as unproven ones, and stay 503', async () => {
      const account = await run.gateway.entities.createAccount({
        channelId: run.channel,
        connector: scriptedName,
        mode: 'EXTERNAL',
        settings: {},
      })
      const say = (headers: Record<string, string> = {}) =>
        run.gateway.inbound(
          scriptedName,
          account,
          message({ eventId: 'unchecked', key: 'nobody', outcome: failure }, headers),
          '203.0.113.20',
        )
      const verify = () => {
        throw new Error('no secret to check with')
      }
      const told = () =>
        run.logs.filter(({ message }) => message === 'a message could not be checked').length
      const before = told()
      const most = limits.unverifiedEventsPerAddress
      await run.doing({ verify }, async () => {
        for (let count = 0; count < most + 5; count += 1) await assert.rejects(say(), later)
      })
      assert.equal(told() - before, most)
      await assert.rejects(say(), { status: 429 })
      await say(proof)
    })
  })
})
