/** Rules about webhooks: their signatures. */
import assert from 'node:assert/strict'
import type { Inbound } from '@tollgate/plugin-kit'
import { reportItem } from '../../../../connectors/adyen/sandbox/messages.ts'
import type { Scene } from '../scene.ts'
import { item, unsigned } from './items.ts'
import { mistake, type Rule } from './rule.ts'

const verified = async ({ stage }: Scene, message: Inbound, hmacKeys?: string) => {
  const { inbound } = stage.connector
  const account = hmacKeys === undefined ? stage.account : { ...stage.account, hmacKeys }
  const { returned } = await stage.call((context) => inbound!.verify(message, context), { account })
  return returned
}

export const eventProofRules: readonly Rule[] = [
  {
    rule: 'a message that nobody proved costs no read, claims nothing and is not acknowledged; one with many items is none',
    async run({ adyen, stage, tell }) {
      const { inbound } = stage.connector
      const replied = async (message: Inbound) =>
        (await stage.call(async (context) => (await inbound!.reply!(message, context))?.body))
          .returned
      const genuine = adyen.message(item({}))
      assert.equal(await replied(genuine), '[accepted]')
      assert.equal(await verified({ stage } as Scene, unsigned(genuine)), false)
      const { returned } = await stage.call((context) => {
        const records = { get: () => assert.fail('a read'), swap: () => assert.fail('a write') }
        return inbound!.parse(unsigned(adyen.message(item({ merchantReference: 'x' }))), {
          ...context,
          records,
        })
      })
      assert.deepEqual(returned, [])
      const many = adyen.message(...Array.from({ length: 51 }, () => item({})))
      await assert.rejects(tell(many))
    },
    mistakes: [
      mistake('events', 'if (!isProven(message, account.hmacKeys)) return []', ''),
      mistake('signature', 'notificationItems.length > mostItems', 'false'),
    ],
  },
  {
    rule: 'a message is proven by any of the keys, whole, and by no shifted fields',
    async run(scene) {
      const { adyen, account } = scene
      const old = 'ab'.repeat(32)
      const message = adyen.message(
        item({}),
        item({ eventCode: 'REFUND', merchantReference: 'order: 7\\8' }),
      )
      assert.equal(await verified(scene, message), true, 'two items')
      assert.equal(
        await verified(scene, message, `${old},${account.hmacKey}`),
        true,
        'the second key',
      )
      assert.equal(
        await verified(scene, message, `${account.hmacKey} ${old}`),
        true,
        'the first key',
      )
      assert.equal(await verified(scene, message, old), false, 'another key')
      const half = JSON.parse(message.body.toString())
      half.notificationItems[1].NotificationRequestItem.additionalData = {}
      assert.equal(
        await verified(scene, { ...message, body: Buffer.from(JSON.stringify(half)) }),
        false,
        'one item unsigned',
      )
      // The same signed text with a border between two fields moved.
      const [one] = JSON.parse(
        adyen.message(item({ merchantReference: 'x:y' })).body.toString(),
      ).notificationItems
      const { NotificationRequestItem: fields } = one
      const shifted = {
        ...fields,
        merchantAccountCode: `${fields.merchantAccountCode}:x`,
        merchantReference: 'y',
      }
      const forged = { live: 'false', notificationItems: [{ NotificationRequestItem: shifted }] }
      const claims = await scene.tell({ ...message, body: Buffer.from(JSON.stringify(forged)) })
      assert.deepEqual(claims, [], 'shifted')
      assert.equal(
        await verified(scene, { ...message, body: Buffer.from('{"notificationItems":[]}') }),
        false,
        'nothing',
      )
    },
    mistakes: [
      mistake('signature', 'return items.every(', 'return items.some('),
      mistake(
        'signature',
        'const keys = keysOf(hmacKeys)',
        'const keys = keysOf(hmacKeys).slice(0, 1)',
      ),
      mistake(
        'signature',
        'const keys = keysOf(hmacKeys)',
        'const keys = keysOf(hmacKeys).slice(-1)',
      ),
      mistake('events', '!isSameName(merchantAccountCode, account.merchantAccount)', 'false'),
      mistake('signature', '|| notificationItems.length === 0', ''),
      mistake('signature', "Buffer.from(key, 'hex')", 'Buffer.from(key)'),
      mistake('signature', "encoding: 'base64'", "encoding: 'hex'"),
      ...[
        'fields.pspReference',
        'fields.originalReference',
        'fields.merchantAccountCode',
        'fields.merchantReference',
        'value',
        'currency',
        'fields.eventCode',
        'fields.success',
      ].map((field) => mistake('signature', `textOf(${field})`, `''`)),
    ],
  },
  {
    rule: 'whatever Adyen signs is taken: without a clear meaning it is listed where it is about money, and else says nothing',
    async run(scene) {
      const { adyen, tell } = scene
      const raw = async (more: object) => {
        const body = JSON.parse(adyen.message({ ...item({}), ...more }).body.toString())
        return { ...adyen.message(item({})), body: Buffer.from(JSON.stringify(body)) }
      }
      const key = 'a'.repeat(32)
      const odd = ['a:b', 'a\\', 'é "<\u0000\n', 'x'.repeat(300), '']
      for (const field of ['pspReference', 'originalReference', 'merchantReference', 'eventCode']) {
        for (const text of odd) {
          const message = await raw({ eventCode: 'DONATION', [field]: text })
          assert.equal(await verified(scene, message), true, `${field} ${text}`)
          assert.deepEqual(await tell(message), [], `${field} ${text}`)
        }
      }
      const sent = JSON.parse(adyen.message({ ...item({}), eventCode: 'DONATION' }).body.toString())
      sent.notificationItems[0].NotificationRequestItem.success = true
      const unquoted = { ...adyen.message(item({})), body: Buffer.from(JSON.stringify(sent)) }
      assert.equal(await verified(scene, unquoted), true, 'a truth value in place of its text')
      for (const amount of [{ value: 0.5, currency: '' }, { value: '1:2', currency: 'euro' }, {}]) {
        const message = await raw({ eventCode: 'DONATION', amount })
        assert.equal(await verified(scene, message), true, JSON.stringify(amount))
        assert.deepEqual(await tell(message), [])
      }
      for (const eventCode of ['AUTHORISATION', 'CAPTURE', 'CHARGEBACK']) {
        // Another split of `P:O::TestMerchant:` would name a payment as its sender likes.
        for (const more of [
          ...['P:O', '', 'a\u0000', 'x'.repeat(256)].map((pspReference) => ({ pspReference })),
          { originalReference: 'O:' },
          { success: 'ok' },
        ]) {
          const message = await raw({ eventCode, merchantReference: key, ...more })
          assert.equal(await verified(scene, message), true)
          const [claim, ...others] = await tell(message)
          assert.deepEqual(others, [])
          assert.equal(claim?.key, key)
          assert.equal(claim?.outcome, undefined, 'the engine lists it, and believes nothing')
        }
      }
    },
    mistakes: [
      mistake('signature', '[^:\\\\\\p{C}]', '[^\\\\\\p{C}]'),
      mistake('signature', '[^:\\\\\\p{C}]', '[^:\\\\]'),
      mistake('signature', '{0,255}$/u', '*$/u'),
      mistake('signature', "texts.pspReference !== '' &&", ''),
      mistake('signature', "(texts.success === 'true' || texts.success === 'false')", 'true'),
      mistake('events', '[unclear(item)] : []', '[unclear(item)] : [unclear(item)]'),
      mistake('events', '[unclear(item)] : []', '[] : []'),
      mistake('signature', "'number', 'boolean'", "'number'"),
    ],
  },
  {
    rule: 'a proven announcement of a settlement report is kept once, and nothing else is',
    async run({ adyen, tell, stage }) {
      const count = async () =>
        (await stage.call(({ records }) => records.get('reports'))).returned ?? 0
      const announced = (name: string) => adyen.message(reportItem(name, 'https://evil.example/'))
      const name = 'settlement_detail_report_batch_12.csv'
      await tell(unsigned(announced(name)))
      assert.equal(await count(), 0, 'unproven')
      for (const other of [
        'payments_accounting_report_2026_03_31.csv',
        'settlement_detail_report_../../x.csv',
        'x settlement_detail_report_1.csv',
        'settlement:detail:report.csv',
        'é"\u0000 \\',
        '',
      ]) {
        assert.deepEqual(await tell(announced(other)), [])
      }
      // The same text with the border of its name moved.
      const whole = reportItem('settlement_detail_report_1.csv:x', 'https://evil.example/')
      const moved = {
        ...whole,
        pspReference: 'settlement_detail_report_1.csv',
        originalReference: 'x:',
      }
      const body = JSON.parse(adyen.message(whole).body.toString())
      Object.assign(body.notificationItems[0].NotificationRequestItem, moved, {
        ...{ additionalData: body.notificationItems[0].NotificationRequestItem.additionalData },
      })
      await tell({ ...announced(name), body: Buffer.from(JSON.stringify(body)) })
      assert.equal(await count(), 0, 'other files')
      await tell(announced(name))
      await tell(announced(name))
      assert.equal(await count(), 1, 'once')
      await tell(announced('settlement_detail_report: batch 13 (é)..csv'))
      assert.equal(await count(), 2, 'with any sign in its name')
    },
    mistakes: [
      mistake('events', 'if (!isProven(message, account.hmacKeys)) return []', ''),
      mistake('events', '&& isSettlementReport(name)', ''),
      mistake('events', "originalReference === '' &&", ''),
      mistake('reports', 'if (seen?.isFetched === false) return', ''),
      mistake('reports', '/^settlement_detail_report', '/settlement_detail_report'),
      mistake('reports', '[^/\\\\\\p{C}]', '[^\\p{C}]'),
      mistake('reports', '[^/\\\\\\p{C}]', '[\\w.-]'),
    ],
  },
]
