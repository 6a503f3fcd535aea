/** Tokens that others published with their keys, made by the wallet itself. Each names its source and licence. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { Sensitive } from '@tollgate/plugin-kit'
import { applePay } from '../../../connectors/apple-pay/index.ts'
import { appleRoot } from '../../../connectors/apple-pay/root.ts'
import { signedAt } from '../../../connectors/apple-pay/signature.ts'
import { tokenOf } from '../../../connectors/apple-pay/token.ts'

type Published = {
  readonly now: number
  readonly token: string
  readonly privateKey?: string
  readonly certificate?: string
  readonly expected?: {
    readonly applicationPrimaryAccountNumber: string
    readonly currencyCode: string
    readonly transactionAmount: number
    readonly paymentData: {
      readonly onlinePaymentCryptogram: string
      readonly eciIndicator?: string
    }
  }
  readonly signedAt?: number
}

const file = path.join(import.meta.dirname, 'published-tokens.json')
const published: Readonly<Record<string, Published>> = JSON.parse(readFileSync(file, 'utf8'))

for (const [name, one] of Object.entries(published)) {
  const { privateKey, certificate, expected } = one
  if (privateKey === undefined || certificate === undefined || expected === undefined) {
    test(`${name}: the signature leads to the root of the package`, () => {
      const token = tokenOf(one.token)
      assert.ok(typeof token !== 'string')
      assert.deepEqual(signedAt(token, [appleRoot]), { atMs: one.signedAt })
      assert.deepEqual(signedAt({ ...token, signed: Buffer.from('other') }, [appleRoot]), {
        why: 'signature',
      })
    })
    continue
  }
  const context = {
    config: { signatureAgeSeconds: 300 },
    account: { certificates: certificate },
    keys: [new Sensitive(privateKey)],
    roots: [appleRoot],
    now: () => new Date(one.now),
  }

  test(`${name}: opens`, () => {
    const answer = applePay.open(one.token, context)
    assert.ok(answer.is === 'opened')
    const { onlinePaymentCryptogram, eciIndicator } = expected.paymentData
    assert.equal(answer.number.reveal(), expected.applicationPrimaryAccountNumber)
    assert.equal(answer.cryptogram?.reveal(), onlinePaymentCryptogram)
    assert.equal(answer.eci, eciIndicator?.padStart(2, '0'))
    assert.equal(answer.amount?.minor, BigInt(expected.transactionAmount))
    assert.equal(answer.amount?.currency, expected.currencyCode)
  })

  test(`${name}: does not open with another border behind its data`, () => {
    const read = JSON.parse(one.token) as { header: Record<string, string> }
    const { transactionId: id = '' } = read.header
    for (let at = 0; at < id.length; at += 2) {
      const moved = { transactionId: id.slice(0, at), applicationData: id.slice(at) }
      const text = JSON.stringify({ ...read, header: { ...read.header, ...moved } })
      assert.deepEqual(applePay.open(text, context), { is: 'refused', class: 'malformed' })
    }
  })

  test(`${name}: is refused an hour later and an hour earlier, and for another merchant`, () => {
    for (const hours of [1, -1]) {
      const now = () => new Date(one.now + hours * 60 * 60_000)
      assert.deepEqual(applePay.open(one.token, { ...context, now }), {
        is: 'refused',
        class: 'stale',
      })
    }
    const account = { merchantId: 'merchant.com.other' }
    const foreign = applePay.open(one.token, { ...context, account })
    assert.deepEqual(foreign, { is: 'refused', class: 'decryption' })
  })
}
