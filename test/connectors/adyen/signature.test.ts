/** Signatures of webhooks are those of Adyen's own library. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hmacValidator as HmacValidator } from '@adyen/api-library'
import fc from 'fast-check'
import { webhook } from '../../../connectors/adyen/sandbox/messages.ts'
import { isProven, signedItems, signedText } from '../../../connectors/adyen/signature.ts'

const theirs = new HmacValidator()
const merchantAccount = 'TestMerchant'

const names = fc.string({ unit: 'grapheme', maxLength: 40 })
const items = fc.record({
  eventCode: fc.constantFrom(
    'AUTHORISATION',
    'CAPTURE',
    'REFUND_FAILED',
    'CHARGEBACK',
    'REPORT_AVAILABLE',
  ),
  success: fc.boolean(),
  pspReference: names,
  originalReference: fc.option(names, { nil: undefined }),
  merchantReference: fc.string({ unit: 'grapheme', maxLength: 80 }),
  amount: fc.record({
    value: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    currency: fc.constantFrom('EUR', 'JPY', 'KWD'),
  }),
})
const keys = fc.stringMatching(/^[0-9A-F]{64}$/)

test("a message that is signed here is proven by Adyen's library, and the other way round", () => {
  fc.assert(
    fc.property(items, keys, ({ originalReference, ...rest }, hmacKey) => {
      const item = { ...rest, ...(originalReference === undefined ? {} : { originalReference }) }
      const message = webhook([item], { merchantAccount, hmacKey })
      const [wrapped] = JSON.parse(message.body.toString()).notificationItems
      const { NotificationRequestItem: fields } = wrapped
      assert.equal(theirs.validateHMAC(fields, hmacKey), true, 'their library')
      assert.equal(isProven(message, hmacKey), true, 'the connector')
      const text = theirs.getDataToSign(fields)
      const read = signedItems(message).map(({ texts }) => signedText(texts))
      assert.deepEqual(read, [text], 'the signed text')
      const signature = theirs.calculateHmac(fields, hmacKey)
      assert.equal(fields.additionalData.hmacSignature, signature)
      const other = {
        ...fields,
        additionalData: { hmacSignature: theirs.calculateHmac(`${text}x`, hmacKey) },
      }
      const forged = { live: 'false', notificationItems: [{ NotificationRequestItem: other }] }
      assert.equal(
        isProven({ ...message, body: Buffer.from(JSON.stringify(forged)) }, hmacKey),
        false,
      )
    }),
  )
})

test('a reference with colons and backslashes is also proven by its escaped form', () => {
  const hmacKey = 'C5'.repeat(32)
  const message = webhook(
    [
      {
        eventCode: 'CAPTURE',
        success: true,
        pspReference: 'P1',
        merchantReference: 'a:b\\c',
        amount: { value: 1, currency: 'EUR' },
      },
    ],
    { merchantAccount, hmacKey },
  )
  const json = JSON.parse(message.body.toString())
  const escaped = 'P1::TestMerchant:a\\:b\\\\c:1:EUR:CAPTURE:true'
  json.notificationItems[0].NotificationRequestItem.additionalData.hmacSignature =
    theirs.calculateHmac(escaped, hmacKey)
  assert.equal(isProven({ ...message, body: Buffer.from(JSON.stringify(json)) }, hmacKey), true)
})
