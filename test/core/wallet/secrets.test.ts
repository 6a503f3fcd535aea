/** Tokens, numbers and cryptograms are where a payment needs them, and nowhere else. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { declined } from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import { flat } from '../../rig/gateway.ts'
import { type Leaf, leavesOf } from '../../rig/leaves.ts'
import {
  deviceNumber,
  type Field,
  tokenOf as makeToken,
  newCryptogram,
  startWithWallets,
  type WalletRun,
  walletBrands,
  walletFields,
} from '../../rig/wallets.ts'

describe('secrets of wallets', () => {
  let run: WalletRun
  let leaves: Leaf[] = []
  const answers: unknown[] = []
  const canaries: [name: string, value: string][] = [['number', deviceNumber]]
  const tokenOf = (...[sandbox, more, flaw]: Parameters<typeof makeToken>) => {
    const cryptogram = newCryptogram()
    canaries.push(['cryptogram', cryptogram])
    return makeToken(sandbox, { ...more, cryptogram }, flaw)
  }
  const refusedBy = new Map<Field, string>()

  const send = async (field: Field, token: string, reference: string) => {
    const ndc = newId()
    const fields = {
      entityId: run.channel,
      ...{ amount: '92.00', currency: 'EUR', paymentType: 'DB', testMode: 'EXTERNAL' },
      paymentBrand: walletBrands[field],
      merchantTransactionId: reference,
      [field]: { paymentToken: token },
    }
    // As long a part as stands alone in every encoding of it.
    canaries.push([`${field}.paymentToken`, token.slice(token.length - 60, token.length - 10)])
    const { body } = await run.gateway.call(
      'payments.create',
      { id: 'test', entityId: null },
      {
        body: Buffer.from(new URLSearchParams(flat(fields)).toString()),
        contentType: 'application/x-www-form-urlencoded',
        requestId: ndc,
      },
    )
    answers.push(body)
    return ndc
  }

  before(async () => {
    run = await startWithWallets()
    for (const field of walletFields) {
      const sandbox = run.devices[field]
      await send(field, tokenOf(sandbox), `approved-${field}`)
      run.acquirer.tell(`declined-${field}`, {
        debit: ({ instrument, threeDSecure }, context) => {
          context.sending()
          const number = instrument?.kind === 'card' ? instrument.number.reveal() : ''
          const proof = threeDSecure?.verificationId?.reveal() ?? ''
          return declined('800.100.152', {
            text: `card ${number} with ${proof} declined`,
            refs: { echo: proof },
            details: { [number]: proof },
          })
        },
      })
      await send(field, tokenOf(sandbox), `declined-${field}`)
      run.acquirer.tell(`throwing-${field}`, {
        debit: ({ instrument, threeDSecure }, context) => {
          context.sending()
          const number = instrument?.kind === 'card' ? instrument.number.reveal() : ''
          throw new Error(`cannot send ${number} ${threeDSecure?.verificationId?.reveal()}`)
        },
      })
      await send(field, tokenOf(sandbox), `throwing-${field}`)
      refusedBy.set(field, await send(field, tokenOf(sandbox, {}, 'wrong-tag'), `refused-${field}`))
      await send(field, tokenOf(sandbox, { expiryYear: '2021' }), `expired-${field}`)
    }
    await run.gateway.inspect(refusedBy.get('applePay')!)
    leaves = await leavesOf(run)
  })
  after(() => run.close())

  test('they are nowhere in the database: not in clear, not as hex, not as base64', () => {
    for (const [name, value] of canaries) {
      const bytes = Buffer.from(value)
      const forms = [value, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, '')]
      const leak = leaves.find(({ text }) => forms.some((form) => text.includes(form)))
      assert.equal(leak, undefined, `${leak?.table}.${leak?.column} holds ${name}`)
    }
  })

  test('they are in no log and in no answer', () => {
    const told = JSON.stringify([run.logs, answers])
    for (const [name, value] of canaries) {
      assert.equal(told.includes(JSON.stringify(value).slice(1, -1)), false, name)
    }
    assert.ok(told.includes(deviceNumber.slice(-4)), 'the last digits, which are shown')
  })

  test('the write-ahead log has none of them', async () => {
    const [row] = await run.sql<{ folder: string }>(
      `select setting as folder from pg_settings where name = 'data_directory'`,
    )
    const folder = path.join(row!.folder, 'pg_wal')
    const segments = (await readdir(folder)).filter((name) => /^[0-9A-F]{24}$/.test(name))
    const log = Buffer.concat(
      await Promise.all(segments.map((name) => readFile(path.join(folder, name)))),
    )
    assert.ok(log.includes('approved-applePay'), 'the scan finds what is stored in clear')
    for (const [name, value] of canaries) assert.equal(log.includes(value), false, name)
  })

  test('a number is sealed with an approved payment, and erased with a declined one', async () => {
    const sealed = async (reference: string) => {
      const rows = await run.sql(
        `select from tollgate.instrument where id in
          (select id from tollgate.payment where merchant_transaction_id = $1)`,
        [reference],
      )
      return rows.length
    }
    for (const field of walletFields) {
      assert.equal(await sealed(`approved-${field}`), 1)
      assert.equal(await sealed(`declined-${field}`), 0)
    }
  })

  test('operators find the class of a refusal by the number of the request, and nobody else does', async () => {
    for (const field of walletFields) {
      const found = await run.gateway.inspect(refusedBy.get(field)!)
      assert.ok('kind' in found && found.kind === 'request')
      assert.equal(found.steps.length, 1)
      const [{ name, outcome, text }] = found.steps as [(typeof found.steps)[number]]
      assert.deepEqual([name, outcome], ['wallet', 'refused'])
      assert.match(text, /class decryption/)
    }
    assert.equal(JSON.stringify([answers, run.logs]).includes('decryption'), false)
  })
})
