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
      assert.notEqual(await replied(unsigned(genuine)), '[accepted]')
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
      mistake('events', "? '[accepted]' : '[not proven]'", "? '[accepted]' : '[accepted]'"),
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
      assert.equal(
        await verified(scene, { ...message, body: Buffer.from(JSON.stringify(forged)) }),
        false,
        'shifted',
      )
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
      mistake(
        'signature',
        'isName(merchantAccountCode) &&',
        "typeof merchantAccountCode === 'string' &&",
      ),
      mistake('signature', '|| notificationItems.length === 0', ''),
      mistake('signature', "Buffer.from(key, 'hex')", 'Buffer.from(key)'),
      mistake('signature', "encoding: 'base64'", "encoding: 'hex'"),
      ...[
        'item.pspReference',
        'item.originalReference',
        'item.merchantAccountCode',
        'item.merchantReference',
        'String(item.value)',
        'item.currency',
        'item.eventCode',
        'String(item.success)',
      ].map((field) => mistake('signature', `${field},`, `'',`)),
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
      ]) {
        await tell(announced(other))
      }
      assert.equal(await count(), 0, 'other files')
      await tell(announced(name))
      await tell(announced(name))
      assert.equal(await count(), 1, 'once')
      await tell(announced('settlement_detail_report_batch_13.csv'))
      assert.equal(await count(), 2)
    },
    mistakes: [
      mistake('events', 'if (!isProven(message, account.hmacKeys)) return []', ''),
      mistake('events', 'if (isSettlementReport(item.pspReference)) await', 'await'),
      mistake('reports', 'if (seen?.isFetched === false) return', ''),
      mistake(
        'reports',
        "reportName.test(name) && !name.includes('..')",
        "name.includes('settlement_detail_report')",
      ),
    ],
  },
]
