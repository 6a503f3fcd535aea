/** Tokens that others published with their keys, made by the wallet itself. Each names its source and licence. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { Sensitive } from '@tollgate/plugin-kit'
import { googlePay } from '../../../connectors/google-pay/index.ts'

type Published = {
  readonly now: number
  /** `gateway:<id>` or `merchant:<id>`. */
  readonly recipient: string
  readonly version: string
  readonly rootKeys: string
  /** In PEM. */
  readonly privateKeys: readonly string[]
  readonly token: string
  readonly expected: {
    readonly gatewayMerchantId?: string
    readonly paymentMethodDetails: Readonly<Record<string, string | number>>
  }
}

const file = path.join(import.meta.dirname, 'published-tokens.json')
const published: Readonly<Record<string, Published>> = JSON.parse(readFileSync(file, 'utf8'))

for (const [name, one] of Object.entries(published)) {
  const [kind, id] = one.recipient.split(':') as [string, string]
  const { gatewayMerchantId, paymentMethodDetails: details } = one.expected
  const context = {
    config: { allowECv1: one.version === 'ECv1', ...(kind === 'gateway' && { gatewayId: id }) },
    account: { gatewayMerchantId, ...(kind === 'merchant' && { merchantId: id }) },
    keys: one.privateKeys.map((pem) => new Sensitive(pem)),
    roots: [one.rootKeys],
    now: () => new Date(one.now),
  }

  test(`${name}: opens`, () => {
    const answer = googlePay.open(one.token, context)
    assert.ok(answer.is === 'opened')
    assert.equal(answer.number.reveal(), details.pan)
    assert.equal(Number(answer.expiryMonth), details.expirationMonth)
    assert.equal(Number(answer.expiryYear), details.expirationYear)
    assert.equal(answer.cryptogram?.reveal(), details.cryptogram)
    assert.equal(answer.eci, details.eciIndicator)
  })

  test(`${name}: is refused a year later, by another root, and for another merchant`, () => {
    const later = () => new Date(one.now + 366 * 24 * 60 * 60_000)
    assert.equal(googlePay.open(one.token, { ...context, now: later }).is, 'refused')
    assert.equal(googlePay.open(one.token, { ...context, roots: ['{"keys":[]}'] }).is, 'refused')
    const account = { gatewayMerchantId: 'other', merchantId: 'other' }
    assert.equal(googlePay.open(one.token, { ...context, account }).is, 'refused')
  })
}
