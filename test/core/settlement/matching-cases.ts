/** Payments, a line, and the record that it becomes: one case for each rule of matching. */
import { accepted, approved, declined, pending } from '@tollgate/plugin-kit'
import type { Script } from '../../rig/acquirer.ts'
import type { Line } from './matching-run.ts'

export type Made = {
  readonly id: string
  readonly key: string
  readonly shortId: string
  readonly reference: string
}

export type PaymentOf = {
  readonly type: string
  /** Of a follow-up: the name of the payment that it refers to. */
  readonly of?: string
  readonly amount?: string
  readonly currency?: string
  /** Payments of one merchantTransactionId. */
  readonly shares?: string
  readonly script?: Script
  readonly fields?: Readonly<Record<string, unknown>>
}

export type Case = {
  readonly rule: string
  readonly payments: Readonly<Record<string, PaymentOf>>
  line(made: Readonly<Record<string, Made>>): Line
  readonly status: string | null
  readonly tier?: string
  /** Names of payments and their parts. */
  readonly matches?: Readonly<Record<string, bigint>>
  /** Names; those of the matches by default. */
  readonly candidates?: readonly string[]
  readonly discrepancies?: readonly string[]
  readonly effect?: string
}

const decline: Script = {
  debit: (_, context) => {
    context.sending()
    return declined('800.100.152')
  },
  refund: (_, context) => {
    context.sending()
    return declined('800.100.152')
  },
}
const wait: Script = {
  debit: (_, context) => {
    context.sending()
    return pending({ poll: 3_600_000 })
  },
}
const accept: Script = {
  debit: (_, context) => {
    context.sending()
    return accepted({ reference: 'accepted' }, 'settlement')
  },
}

const declineWithRefs: Script = {
  debit: (_, context) => {
    context.sending()
    return declined('800.100.152', { refs: { reference: 'of-a-decline' } })
  },
}
const acceptWithoutRefs: Script = {
  debit: (_, context) => {
    context.sending()
    return accepted({}, 'settlement')
  },
}

const acceptRefund: Script = {
  refund: (_, context) => {
    context.sending()
    return accepted({ reference: 'accepted-refund' }, 'settlement')
  },
}

const withoutRefs: Script = {
  refund: (_, context) => {
    context.sending()
    return approved({})
  },
}

const sale = { type: 'DB' }
const whole = { a: 9200n }

export const cases: readonly Case[] = [
  {
    rule: 'a payment id names its payment',
    payments: { a: sale },
    line: ({ a }) => ({ paymentId: a!.id }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: whole },
  },
  {
    rule: 'an attempt key names its payment',
    payments: { a: sale },
    line: ({ a }) => ({ key: a!.key }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: whole },
  },
  {
    rule: "an acquirer's reference is compared trimmed and in one case",
    payments: { a: sale },
    line: ({ a }) => ({ refs: [` AT-${a!.key.toUpperCase()} `] }),
    ...{ status: 'MATCHED', tier: 'acquirer-reference', matches: whole },
  },
  {
    rule: 'the second reference is not compared with the first',
    payments: { a: sale },
    line: ({ a }) => ({ refs: [undefined, `at-${a!.key}`] }),
    status: 'NOT_MATCHED',
  },
  {
    rule: "a merchant's reference names its payment",
    payments: { a: sale },
    line: ({ a }) => ({ merchantTransactionId: a!.reference.toUpperCase() }),
    ...{ status: 'MATCHED', tier: 'merchant-reference', matches: whole },
  },
  {
    rule: "an order number does not name a payment with other references of the acquirer than the line's",
    payments: { a: sale },
    line: ({ a }) => ({ merchantTransactionId: a!.reference, refs: ['made-elsewhere'] }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['STATE'] },
  },
  {
    rule: 'nor does a short id',
    payments: { a: sale },
    line: ({ a }) => ({ shortId: a!.shortId, refs: ['made-elsewhere'] }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['STATE'] },
  },
  {
    rule: 'a key names its payment under any references',
    payments: { a: sale },
    line: ({ a }) => ({ key: a!.key, refs: ['of-the-capture'] }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: whole },
  },
  {
    rule: 'one reference of several names the payment of an order number',
    payments: { a: sale },
    line: ({ a }) => ({
      merchantTransactionId: a!.reference,
      refs: [`at-${a!.key}`, 'of-the-settlement'],
    }),
    ...{ status: 'MATCHED', tier: 'acquirer-reference', matches: whole },
  },
  {
    rule: 'a refund of an order number with references of its own was made elsewhere',
    payments: { a: sale, b: { type: 'RF', of: 'a', amount: '20.00' } },
    line: ({ a }) => ({
      ...{ transactionType: 'REFUND', minor: 2000n },
      ...{ merchantTransactionId: a!.reference, refs: ['made-elsewhere'] },
    }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['EXTERNAL_REFUND'] },
  },
  {
    rule: 'a chargeback of an order number with other references is about no payment of it, nor about its refund',
    payments: {
      a: sale,
      b: { type: 'RF', of: 'a', amount: '30.00', shares: 'refund-elsewhere', script: withoutRefs },
    },
    line: ({ a }) => ({
      ...{ recordType: 'CHARGEBACK', cashflow: 'NEG', minor: 3000n },
      ...{ merchantTransactionId: a!.reference, refs: ['made-elsewhere'] },
    }),
    ...{ status: 'NOT_MATCHED', candidates: ['a', 'b'], discrepancies: ['STATE'] },
  },
  {
    rule: 'a line of a declined order reports no money to it',
    payments: { a: { ...sale, script: decline } },
    line: ({ a }) => ({ merchantTransactionId: a!.reference, refs: ['made-elsewhere'] }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['STATE'] },
  },
  {
    rule: 'a short id names its payment',
    payments: { a: sale },
    line: ({ a }) => ({ shortId: a!.shortId }),
    ...{ status: 'MATCHED', tier: 'short-id', matches: whole },
  },
  {
    rule: 'amount, currency, last four digits and brand name a payment that nothing else names',
    payments: { a: { ...sale, amount: '31.17' } },
    line: () => ({ minor: 3117n, last4: '0000', brand: 'visa' }),
    ...{ status: 'MATCHED', tier: 'composite', matches: { a: 3117n } },
  },
  {
    rule: 'a composite match is earlier than its settlement by 14 days at most',
    payments: { a: { ...sale, amount: '31.18' } },
    line: () => ({ minor: 3118n, last4: '0000', brand: 'VISA', date: dayFrom(16) }),
    status: 'NOT_MATCHED',
  },
  {
    rule: 'a composite match is later than the order by one day at most',
    payments: { a: { ...sale, amount: '31.19' } },
    line: () => ({
      minor: 3119n,
      last4: '0000',
      brand: 'VISA',
      requestedAt: `${dayFrom(-3)} 10:00:00`,
    }),
    status: 'NOT_MATCHED',
  },
  {
    rule: 'the time of the order counts before the day of settlement',
    payments: { a: { ...sale, amount: '31.20' } },
    line: () => ({
      ...{ minor: 3120n, last4: '0000', brand: 'VISA', date: dayFrom(16) },
      requestedAt: `${dayFrom(3)} 10:00:00`,
    }),
    ...{ status: 'MATCHED', tier: 'composite', matches: { a: 3120n } },
  },
  {
    rule: 'a refund is found by the digits of its sale',
    payments: { a: { ...sale, amount: '31.30' }, b: { type: 'RF', of: 'a', amount: '11.31' } },
    line: () => ({ transactionType: 'REFUND', minor: 1131n, last4: '0000', brand: 'VISA' }),
    ...{ status: 'MATCHED', tier: 'composite', matches: { b: 1131n } },
  },
  {
    rule: 'two payments of one composite have two readings',
    payments: { a: { ...sale, amount: '31.40' }, b: { ...sale, amount: '31.40' } },
    line: () => ({ minor: 3140n, last4: '0000', brand: 'VISA' }),
    ...{ status: 'MULTIPLE_MATCHES', tier: 'composite', candidates: ['a', 'b'] },
  },
  {
    rule: 'the first tier with an eligible payment decides',
    payments: { a: sale, b: sale },
    line: ({ a, b }) => ({ paymentId: a!.id, merchantTransactionId: b!.reference }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: whole },
  },
  {
    rule: 'an unknown id falls through and says so',
    payments: { a: sale },
    line: ({ a }) => ({ paymentId: 'f'.repeat(32), merchantTransactionId: a!.reference }),
    ...{ status: 'MATCHED', tier: 'merchant-reference', matches: whole },
    discrepancies: ['ID_UNKNOWN'],
  },
  {
    rule: 'an unknown id that leads nowhere says so, too',
    payments: {},
    line: () => ({ paymentId: 'f'.repeat(32) }),
    ...{ status: 'NOT_MATCHED', discrepancies: ['ID_UNKNOWN'] },
  },
  {
    rule: 'a preauthorization leads to its capture',
    payments: { a: { type: 'PA' }, b: { type: 'CP', of: 'a', amount: '92.00' } },
    line: ({ a }) => ({ merchantTransactionId: a!.reference }),
    ...{ status: 'MATCHED', tier: 'merchant-reference', matches: { b: 9200n } },
  },
  {
    rule: 'a preauthorization leads to the refund of its capture',
    payments: {
      a: { type: 'PA' },
      b: { type: 'CP', of: 'a', amount: '92.00' },
      c: { type: 'RF', of: 'b', amount: '20.00' },
    },
    line: ({ a }) => ({ transactionType: 'REFUND', paymentId: a!.id, minor: 2000n }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { c: 2000n } },
  },
  {
    rule: 'a sale leads to its refund',
    payments: { a: sale, b: { type: 'RF', of: 'a', amount: '92.00' } },
    line: ({ a }) => ({ transactionType: 'REFUND', paymentId: a!.id }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { b: 9200n } },
  },
  {
    rule: 'a payout is a CREDIT',
    payments: { a: { type: 'CD' } },
    line: ({ a }) => ({ transactionType: 'CREDIT', paymentId: a!.id }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: whole },
  },
  {
    rule: 'of several captures, the one of equal amount is meant',
    payments: {
      a: { type: 'PA' },
      b: { type: 'CP', of: 'a', amount: '30.00' },
      c: { type: 'CP', of: 'a', amount: '40.00' },
    },
    line: ({ a }) => ({ paymentId: a!.id, minor: 4000n }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { c: 4000n } },
  },
  {
    rule: 'of several captures, the unique subset with the sum is meant',
    payments: {
      a: { type: 'PA' },
      b: { type: 'CP', of: 'a', amount: '30.00' },
      c: { type: 'CP', of: 'a', amount: '40.00' },
      d: { type: 'CP', of: 'a', amount: '11.00' },
    },
    line: ({ a }) => ({ paymentId: a!.id, minor: 7000n }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { b: 3000n, c: 4000n } },
  },
  {
    rule: 'two captures of equal amount have two readings',
    payments: {
      a: { type: 'PA' },
      b: { type: 'CP', of: 'a', amount: '30.00' },
      c: { type: 'CP', of: 'a', amount: '30.00' },
    },
    line: ({ a }) => ({ paymentId: a!.id, minor: 3000n }),
    ...{ status: 'MULTIPLE_MATCHES', tier: 'payment-id', candidates: ['b', 'c'] },
  },
  {
    rule: 'an equal capture and a subset with the same sum have two readings',
    payments: {
      a: { type: 'PA' },
      b: { type: 'CP', of: 'a', amount: '30.00' },
      c: { type: 'CP', of: 'a', amount: '10.00' },
      d: { type: 'CP', of: 'a', amount: '20.00' },
    },
    line: ({ a }) => ({ paymentId: a!.id, minor: 3000n }),
    ...{ status: 'MULTIPLE_MATCHES', tier: 'payment-id', candidates: ['b', 'c', 'd'] },
  },
  {
    rule: 'several payments without a fitting sum have several readings',
    payments: { a: { ...sale, shares: 'x' }, b: { ...sale, shares: 'x', amount: '50.00' } },
    line: ({ a }) => ({ merchantTransactionId: a!.reference, minor: 7100n }),
    ...{ status: 'MULTIPLE_MATCHES', tier: 'merchant-reference', candidates: ['a', 'b'] },
  },
  {
    rule: 'a declined try beside the approved payment does not count',
    payments: {
      a: { ...sale, shares: 'x', script: decline },
      b: { ...sale, shares: 'x', script: {} },
    },
    line: ({ a }) => ({ merchantTransactionId: a!.reference }),
    ...{ status: 'MATCHED', tier: 'merchant-reference', matches: { b: 9200n } },
  },
  {
    rule: 'a key of a declined payment matches nothing, and its proven money is reported',
    payments: { a: { ...sale, script: decline } },
    line: ({ a }) => ({ paymentId: a!.id }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['STATE'], effect: 'open' },
  },
  {
    rule: 'a key of a declined payment leads to no other payment of its order',
    payments: {
      a: { ...sale, shares: 'x', script: decline },
      b: { ...sale, shares: 'x', script: accept },
    },
    line: ({ a }) => ({ paymentId: a!.id, merchantTransactionId: a!.reference }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['STATE'], effect: 'open' },
  },
  {
    rule: "nor does an acquirer's reference of one",
    payments: {
      a: { ...sale, shares: 'x', script: declineWithRefs },
      b: { ...sale, shares: 'x', script: acceptWithoutRefs },
    },
    line: ({ a }) => ({
      refs: ['of-a-decline'],
      merchantTransactionId: a!.reference,
      status: 'FAILED',
    }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['STATE'] },
  },
  {
    rule: 'nor the key of a wholly reversed payment, by the short id of another',
    payments: { a: sale, b: { type: 'RV', of: 'a' }, c: sale },
    line: ({ a, c }) => ({ key: a!.key, shortId: c!.shortId }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['STATE'] },
  },
  {
    rule: 'a key of a declined payment yields to the reference of an approved one',
    payments: { a: { ...sale, script: decline }, b: sale },
    line: ({ a, b }) => ({ paymentId: a!.id, refs: [`at-${b!.key}`] }),
    ...{ status: 'MATCHED', tier: 'acquirer-reference', matches: { b: 9200n } },
  },
  {
    rule: 'a chargeback of a declined payment is reported by its own names alone',
    payments: { a: { ...sale, script: decline } },
    line: ({ a }) => ({ recordType: 'CHARGEBACK', cashflow: 'NEG', key: a!.key }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['STATE'], effect: 'open' },
  },
  {
    rule: 'a chargeback by the order number of a declined payment reports nothing',
    payments: { a: { ...sale, script: decline } },
    line: ({ a }) => ({
      recordType: 'CHARGEBACK',
      cashflow: 'NEG',
      merchantTransactionId: a!.reference,
    }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['STATE'] },
  },
  {
    rule: 'a failed settlement of a declined payment reports nothing',
    payments: { a: { ...sale, script: decline } },
    line: ({ a }) => ({ paymentId: a!.id, status: 'FAILED' }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['STATE'] },
  },
  {
    rule: 'a wholly reversed payment is never matched',
    payments: { a: sale, b: { type: 'RV', of: 'a' } },
    line: ({ a }) => ({ paymentId: a!.id }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['STATE'] },
  },
  {
    rule: 'a preauthorization without a capture is not settled',
    payments: { a: { type: 'PA' } },
    line: ({ a }) => ({ paymentId: a!.id }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['STATE'] },
  },
  {
    rule: 'an open payment can be settled, and an effect follows',
    payments: { a: { ...sale, script: wait } },
    line: ({ a }) => ({ paymentId: a!.id }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: whole, effect: 'open' },
  },
  {
    rule: 'an accepted payment becomes final by an effect',
    payments: { a: { ...sale, script: accept } },
    line: ({ a }) => ({ paymentId: a!.id }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: whole, effect: 'open' },
  },
  {
    rule: 'money that the institute takes neither settles an open payment nor has an effect',
    payments: { a: { ...sale, script: wait } },
    line: ({ a }) => ({ paymentId: a!.id, cashflow: 'NEG' }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { a: 0n }, discrepancies: ['STATE'] },
  },
  {
    rule: 'nor an accepted one',
    payments: { a: { ...sale, script: accept } },
    line: ({ a }) => ({ paymentId: a!.id, cashflow: 'NEG' }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { a: 0n }, discrepancies: ['STATE'] },
  },
  {
    rule: 'nor is it money of a declined one',
    payments: { a: { ...sale, script: decline } },
    line: ({ a }) => ({ paymentId: a!.id, cashflow: 'NEG' }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['STATE'] },
  },
  {
    rule: 'money that comes in pays out no refund',
    payments: { a: sale, b: { type: 'RF', of: 'a', script: acceptRefund } },
    line: ({ b }) => ({ paymentId: b!.id, transactionType: 'REFUND', cashflow: 'POS' }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { b: 0n }, discrepancies: ['STATE'] },
  },
  {
    rule: 'a failed settlement settles nothing, and an effect follows',
    payments: { a: sale },
    line: ({ a }) => ({ paymentId: a!.id, status: 'FAILED' }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { a: 0n }, effect: 'open' },
  },
  {
    rule: 'another amount stands beside the match',
    payments: { a: sale },
    line: ({ a }) => ({ paymentId: a!.id, minor: 9100n }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { a: 9100n }, discrepancies: ['AMOUNT'] },
  },
  {
    rule: 'a record settles at most the amount of its payment',
    payments: { a: sale },
    line: ({ a }) => ({ paymentId: a!.id, minor: 9300n }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: whole, discrepancies: ['AMOUNT'] },
  },
  {
    rule: 'another currency stands beside the match',
    payments: { a: sale },
    line: ({ a }) => ({ paymentId: a!.id, currency: 'USD' }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: whole, discrepancies: ['CURRENCY'] },
  },
  {
    rule: 'a rate fits within one minor unit and half of its last decimal',
    payments: { a: sale },
    line: ({ a }) => ({
      paymentId: a!.id,
      fxRate: '1.08',
      settledCurrency: 'USD',
      settledMinor: 9983n,
    }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: whole },
  },
  {
    rule: 'a rate that does not lead to the settled amount stands beside the match',
    payments: { a: sale },
    line: ({ a }) => ({
      paymentId: a!.id,
      fxRate: '1.08',
      settledCurrency: 'USD',
      settledMinor: 9984n,
    }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: whole, discrepancies: ['FX'] },
  },
  {
    rule: 'a rate counts the decimals of both currencies',
    payments: { a: sale },
    line: ({ a }) => ({
      paymentId: a!.id,
      fxRate: '160.00',
      settledCurrency: 'JPY',
      settledMinor: 14720n,
    }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: whole },
  },
  {
    rule: 'a chargeback is about its sale, also for a part of the amount',
    payments: { a: sale },
    line: ({ a }) => ({
      recordType: 'CHARGEBACK',
      cashflow: 'NEG',
      paymentId: a!.id,
      minor: 2000n,
    }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { a: 0n }, effect: 'open' },
  },
  {
    rule: 'a chargeback above its payment says so',
    payments: { a: sale },
    line: ({ a }) => ({
      recordType: 'CHARGEBACK',
      cashflow: 'NEG',
      paymentId: a!.id,
      minor: 9300n,
    }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { a: 0n }, effect: 'open' },
    discrepancies: ['AMOUNT'],
  },
  {
    rule: 'a chargeback that names a preauthorization is about it, and about no sum of its captures',
    payments: {
      a: { type: 'PA' },
      b: { type: 'CP', of: 'a', amount: '30.00' },
      c: { type: 'CP', of: 'a', amount: '40.00' },
    },
    line: ({ a }) => ({
      recordType: 'CHARGEBACK',
      cashflow: 'NEG',
      paymentId: a!.id,
      minor: 7000n,
    }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { a: 0n }, effect: 'open' },
  },
  {
    rule: 'a chargeback by the reference of a preauthorization is about it, also without a capture',
    payments: { a: { type: 'PA' } },
    line: ({ a }) => ({ recordType: 'CHARGEBACK', cashflow: 'NEG', refs: [`at-${a!.key}`] }),
    ...{ status: 'MATCHED', tier: 'acquirer-reference', matches: { a: 0n }, effect: 'open' },
  },
  {
    rule: 'a chargeback by the order number of a preauthorization is about its only capture',
    payments: { a: { type: 'PA' }, b: { type: 'CP', of: 'a', amount: '30.00' } },
    line: ({ a }) => ({
      recordType: 'CHARGEBACK',
      cashflow: 'NEG',
      merchantTransactionId: a!.reference,
      minor: 3000n,
    }),
    ...{ status: 'MATCHED', tier: 'merchant-reference', matches: { b: 0n }, effect: 'open' },
  },
  {
    rule: 'a chargeback of several payments is not about the one of its amount',
    payments: {
      a: { ...sale, shares: 'order-twice' },
      b: { ...sale, amount: '30.00', shares: 'order-twice' },
    },
    line: ({ a }) => ({
      recordType: 'CHARGEBACK',
      cashflow: 'NEG',
      merchantTransactionId: a!.reference,
      minor: 3000n,
    }),
    ...{ status: 'MULTIPLE_MATCHES', tier: 'merchant-reference', candidates: ['a', 'b'] },
  },
  {
    rule: 'a chargeback by a name that a sale and its refund share is about the sale, whatever its amount',
    payments: {
      a: { ...sale, shares: 'order-disputed' },
      b: { type: 'RF', of: 'a', amount: '30.00', shares: 'order-disputed' },
    },
    line: ({ a }) => ({
      recordType: 'CHARGEBACK',
      cashflow: 'NEG',
      merchantTransactionId: a!.reference,
      minor: 3000n,
    }),
    ...{ status: 'MATCHED', tier: 'merchant-reference', matches: { a: 0n }, effect: 'open' },
  },
  {
    rule: 'a refund can be charged back',
    payments: { a: sale, b: { type: 'RF', of: 'a', amount: '20.00' } },
    line: ({ b }) => ({
      recordType: 'CHARGEBACK',
      cashflow: 'NEG',
      paymentId: b!.id,
      minor: 2000n,
    }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { b: 0n }, effect: 'open' },
  },
  {
    rule: 'a fee of one transaction matches in any state, and its amount is ignored',
    payments: { a: { ...sale, script: decline } },
    line: ({ a }) => ({
      recordType: 'FEE',
      transactionType: 'AUTH_FEE',
      paymentId: a!.id,
      minor: 15n,
    }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { a: 0n } },
  },
  {
    rule: 'a fee of a capture is about the capture of the named preauthorization',
    payments: { a: { type: 'PA' }, b: { type: 'CP', of: 'a', amount: '92.00' } },
    line: ({ a }) => ({
      recordType: 'FEE',
      transactionType: 'CAPTURE_FEE',
      paymentId: a!.id,
      minor: 15n,
    }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: { b: 0n } },
  },
  {
    rule: 'a monthly fee has no status',
    payments: { a: sale },
    line: ({ a }) => ({
      recordType: 'FEE',
      transactionType: 'MONTHLY',
      paymentId: a!.id,
      minor: 990n,
    }),
    status: null,
  },
  {
    rule: 'a refund that was made elsewhere says so',
    payments: { a: sale },
    line: ({ a }) => ({ transactionType: 'REFUND', paymentId: a!.id, minor: 2000n }),
    ...{ status: 'NOT_MATCHED', candidates: ['a'], discrepancies: ['EXTERNAL_REFUND'] },
  },
  {
    rule: 'a fee above the settled amount says so',
    payments: { a: sale },
    line: ({ a }) => ({ paymentId: a!.id, fee: 9300n }),
    ...{ status: 'MATCHED', tier: 'payment-id', matches: whole, discrepancies: ['FEE'] },
  },
  {
    rule: 'a payment older than the usual time is found, and is late',
    payments: { a: sale },
    line: ({ a }) => ({ merchantTransactionId: a!.reference, date: dayFrom(60) }),
    ...{ status: 'MATCHED', tier: 'merchant-reference', matches: whole, discrepancies: ['LATE'] },
  },
]

/** A day from today on, `yyyy-MM-dd`. */
function dayFrom(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
}
