import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { declined } from '@tollgate/plugin-kit'
import { panFields, sadFields } from '../../../schemas/index.ts'
import { type AcquirerRun, scriptedAcquirer, startWithAcquirer } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { type Leaf, leavesOf } from '../../rig/leaves.ts'

/** A card number of these digits, with its check digit. */
function cardNumber(digits: string): string {
  const sum = [...digits].reverse().reduce((all, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1)
    return all + (value > 9 ? value - 9 : value)
  }, 0)
  return digits + String((10 - (sum % 10)) % 10)
}

const numbers = {
  approved: cardNumber('420013579246801'),
  declined: cardNumber('420024681357902'),
  refused: cardNumber('420035792468013'),
  external: cardNumber('420046813579024'),
  talkative: cardNumber('420057924680135'),
  token: cardNumber('420068135790246'),
  echoed: cardNumber('420079246801357'),
  lost: '4000000000000341',
  notSent: '4000000000000119',
}
/** Every secret input by field. Short ones are searched as whole values. */
const canaries: Record<string, string[]> = {
  'card.number': Object.values(numbers).filter((number) => number !== numbers.token),
  'card.cvv': ['761', '762', '763'],
  'bankAccount.iban': [
    'DE95370400440815471142',
    'DE62370400440532013001',
    'DE75512108001245126199',
  ],
  'bankAccount.number': ['5320131234987'],
  'tokenAccount.number': [numbers.token],
  'tokenAccount.cryptogram': ['Q2FuYXJ5Q3J5cHRvZ3JhbTEyMw=='],
  'tokenAccount.dtvc': ['7641'],
  'giftCard.number': ['GIFT-CANARY-4711'],
  'giftCard.pin': ['PIN-CANARY-0815'],
  'sender.accountNumber': ['SENDER-CANARY-99'],
  'recipient.accountNumber': ['RECIPIENT-CANARY-77'],
  'threeDSecure.verificationId': ['Q2FuYXJ5UHJvb2YxMjM0NTY3ODk='],
  'applePay.paymentToken': ['{"canary":"apple-token-canary"}'],
  'googlePay.paymentToken': ['{"canary":"google-token-canary"}'],
  'samsungPay.paymentToken': ['{"canary":"samsung-token-canary"}'],
}
const holder = 'Canary Example'

describe('secrets', () => {
  let run: AcquirerRun
  const ids: Record<string, string> = {}
  const answers: unknown[] = []
  let leaves: Leaf[] = []

  const send = async (name: string, fields: Record<string, string>) => {
    const { body } = await run.send({
      entityId: run.channel,
      amount: '92.00',
      currency: 'EUR',
      paymentType: 'DB',
      ...fields,
    })
    ids[name] = body.id
    answers.push(body)
    return body
  }
  const card = (number: string, cvv: string) => ({
    'card.number': number,
    'card.cvv': cvv,
    'card.holder': holder,
    'card.expiryMonth': '05',
    'card.expiryYear': '2034',
  })
  const everything = {
    'giftCard.number': 'GIFT-CANARY-4711',
    'giftCard.pin': 'PIN-CANARY-0815',
    'sender.accountNumber': 'SENDER-CANARY-99',
    'recipient.accountNumber': 'RECIPIENT-CANARY-77',
    'threeDSecure.verificationId': 'Q2FuYXJ5UHJvb2YxMjM0NTY3ODk=',
    'threeDSecure.eci': '05',
  }

  before(async () => {
    run = await startWithAcquirer({
      acquirer: scriptedAcquirer({ methods: ['card', 'bankAccount'] }),
    })
    await send('approved', { ...card(numbers.approved, '761'), ...everything })
    await send('declined', {
      ...card(numbers.declined, '762'),
      ...everything,
      'card.holder': '800.100.152',
    })
    await send('refused', { ...card(numbers.refused, '763'), amount: '0.00' })
    await send('lost', card(numbers.lost, '761'))
    await send('notSent', card(numbers.notSent, '761'))
    const bank = { paymentBrand: 'DIRECTDEBIT_SEPA', 'bankAccount.holder': holder }
    await send('iban', {
      ...bank,
      'bankAccount.iban': 'DE95370400440815471142',
      'bankAccount.bic': 'MARKDEF1100',
    })
    await send('ibanDeclined', {
      ...bank,
      'bankAccount.iban': 'DE62370400440532013001',
      'bankAccount.bic': 'MARKDEF1100',
    })
    await send('account', {
      ...bank,
      paymentBrand: 'DIRECTDEBIT_ACH',
      'bankAccount.number': '5320131234987',
      'bankAccount.bankCode': '37040044',
    })
    await send('token', {
      paymentBrand: 'VISA',
      'tokenAccount.number': numbers.token,
      'tokenAccount.type': 'NETWORK',
      'tokenAccount.cryptogram': 'Q2FuYXJ5Q3J5cHRvZ3JhbTEyMw==',
      'tokenAccount.dtvc': '7641',
    })
    for (const [wallet, brand] of [
      ['applePay', 'APPLEPAY'],
      ['googlePay', 'GOOGLEPAY'],
      ['samsungPay', 'SAMSUNGPAY'],
    ] as const) {
      await send(wallet, {
        paymentBrand: brand,
        [`${wallet}.paymentToken`]: canaries[`${wallet}.paymentToken`]![0]!,
      })
    }
    // A connector that repeats its input in clear, and one that throws it.
    const external = {
      ...card(numbers.talkative, '761'),
      testMode: 'EXTERNAL',
      merchantTransactionId: 'talkative',
    }
    run.acquirer.tell('talkative', {
      debit: (operation, context) => {
        context.sending()
        const number =
          operation.instrument?.kind === 'card' ? operation.instrument.number.reveal() : ''
        context.log.info({ note: 'asked' }, 'the acquirer was asked')
        return declined('800.100.152', {
          text: `card ${number} declined`,
          refs: { echo: number },
          details: { track: `${number}=3405`, [number]: 'x' },
        })
      },
    })
    await send('talkative', external)
    // IBANs and security codes do not resemble card numbers, so the engine knows them from the
    // request.
    run.acquirer.tell('talkative-iban', {
      debit: ({ instrument }, context) => {
        context.sending()
        const iban = instrument?.kind === 'bankAccount' ? instrument.iban!.reveal() : ''
        return declined('800.100.152', {
          text: `IBAN ${iban} is blocked`,
          refs: { echo: iban },
          details: { [iban]: iban, list: `${iban},${iban}` },
          code: iban,
        })
      },
    })
    await send('talkativeIban', {
      ...bank,
      'bankAccount.iban': 'DE75512108001245126199',
      'bankAccount.bic': 'MARKDEF1100',
      testMode: 'EXTERNAL',
      merchantTransactionId: 'talkative-iban',
    })
    run.acquirer.tell('talkative-code', {
      debit: ({ instrument }, context) => {
        context.sending()
        const cvv = instrument?.kind === 'card' ? instrument.cvv!.reveal() : ''
        return declined('800.100.152', { refs: { cvv }, details: { cvv }, text: cvv })
      },
    })
    await send('talkativeCode', {
      ...card(numbers.echoed, '763'),
      testMode: 'EXTERNAL',
      merchantTransactionId: 'talkative-code',
    })
    run.acquirer.tell('throwing', {
      debit: (operation, context) => {
        context.sending()
        const number =
          operation.instrument?.kind === 'card' ? operation.instrument.number.reveal() : ''
        throw Object.assign(new Error(`cannot send ${number}`), { name: `Error of ${number}` })
      },
    })
    await send('throwing', {
      ...card(numbers.external, '761'),
      testMode: 'EXTERNAL',
      merchantTransactionId: 'throwing',
    })
    // Follow-ups and their jobs write rows of their own.
    const { payments } = run.gateway
    answers.push(await payments.rebill(ids.approved!, { amount: '1.00', currency: 'EUR' }))
    answers.push(await payments.refund(ids.approved!, { amount: '1.00', currency: 'EUR' }))
    await run.sql(`update tollgate.timer set due_at = now()`)
    await run.event(ids.lost!, 'payment.approved')
    await until(async () =>
      (await run.sql('select 1 from tollgate_boss.job')).length > 0 ? true : undefined,
    )
    leaves = await leavesOf(run)
  })
  after(() => run.close())

  const stored = async (name: string) =>
    (await run.sql('select id from tollgate.instrument where id = $1', [ids[name]])).length > 0

  test('every field of class pan and sad has a canary', () => {
    assert.deepEqual(Object.keys(canaries).sort(), [...panFields, ...sadFields].sort())
  })

  test('the scan finds canaries: text in JSON, ids, and bytes', async () => {
    const found = (value: string) => leaves.some((leaf) => leaf.text.includes(value))
    assert.ok(found(holder), 'the holder, which is stored in clear')
    assert.ok(
      leaves.some((leaf) => leaf.text === 'talkative'),
      'a whole value',
    )
    const [row] = await run.sql<{ sealed: Buffer }>(
      'select sealed from tollgate.instrument where id = $1',
      [ids.approved],
    )
    assert.ok(found(row!.sealed.toString('hex')), 'bytes')
    const schemas = new Set(leaves.map((leaf) => leaf.table.split('.')[0]))
    assert.deepEqual([...schemas].sort(), ['tollgate', 'tollgate_boss'])
  })

  for (const [field, values] of Object.entries(canaries)) {
    test(`${field} is nowhere in the database: not in clear, not as hex, not as base64`, () => {
      for (const value of values) {
        const forms = [
          value,
          Buffer.from(value).toString('hex'),
          Buffer.from(value).toString('base64').replace(/=+$/, ''),
        ]
        const isShort = value.length < 8
        const leak = leaves.find(({ text }) =>
          isShort ? text === value : forms.some((form) => text.includes(form)),
        )
        assert.equal(leak, undefined, `${leak?.table}.${leak?.column} holds ${field}`)
      }
    })

    test(`${field} is in no log and in no answer`, () => {
      const told = JSON.stringify([run.logs, answers])
      for (const value of values) {
        const form = JSON.stringify(value).slice(1, -1)
        const leak = value.length < 8 ? new RegExp(`"${value}"`).test(told) : told.includes(form)
        assert.equal(leak, false)
      }
    })
  }

  test('the write-ahead log shows clear columns and no secret', async () => {
    const log = Buffer.concat(await writeAheadLog())
    assert.ok(log.includes(holder), 'the scan finds the holder, which is stored in clear')
    for (const [field, values] of Object.entries(canaries)) {
      for (const value of values.filter((text) => text.length >= 8)) {
        assert.equal(log.includes(value), false, `the write-ahead log holds ${field}`)
      }
    }
  })

  /** The present segments of the server's log, which hold everything this test wrote. */
  async function writeAheadLog(): Promise<Buffer[]> {
    const [row] = await run.sql<{ folder: string }>(
      `select setting as folder from pg_settings where name = 'data_directory'`,
    )
    const folder = path.join(row!.folder, 'pg_wal')
    const segments = (await readdir(folder)).filter((name) => /^[0-9A-F]{24}$/.test(name))
    return Promise.all(segments.map((name) => readFile(path.join(folder, name))))
  }

  test('a sealed number remains with approved and open payments, and is erased with others', async () => {
    for (const name of ['approved', 'lost', 'iban', 'account', 'token', 'throwing']) {
      assert.equal(await stored(name), true, name)
    }
    for (const name of [
      'declined',
      'notSent',
      'refused',
      'ibanDeclined',
      'talkative',
      'applePay',
    ]) {
      assert.equal(await stored(name), false, name)
    }
  })
})
