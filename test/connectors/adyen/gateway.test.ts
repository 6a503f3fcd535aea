/** The connector behind a real engine: whatever line and webhooks do, the engine's books agree with Adyen's. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newReference } from '../../../connectors/adyen/sandbox/ledger.ts'
import { disputeItem, reportItem } from '../../../connectors/adyen/sandbox/messages.ts'
import {
  batchLine,
  type Dispute,
  reportOf,
  reportOfBooks,
} from '../../../connectors/adyen/sandbox/report.ts'
import type { Fault } from '../../../plugins/kit/testing/fault.ts'
import { sentAgain } from '../../rig/acquirer.ts'
import { balanceOf } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { streamed } from '../../rig/settlement.ts'
import { type AdyenRun, newPayment, startAdyenRun } from './run.ts'

const eur = (amount: string) => ({ amount, currency: 'EUR' as const })
const done = '000.100.112'
const open = '000.200.001'
const body = { type: 'application/json', body: '{"error":"internal"}' }
/** The answer is lost after the work, or the request before it. */
const lost: Fault = { reaches: true, damage: { do: 'replace', status: 500, ...body } }
const never: Fault = { reaches: false, damage: { do: 'replace', status: 503, ...body } }

describe('payments at Adyen', () => {
  let run: AdyenRun
  before(async () => {
    run = await startAdyenRun()
  })
  after(() => run.close())

  const follow = (id: string, paymentType: 'CP' | 'RF' | 'RV', amount?: string) =>
    run.gateway.payments.followUp(id, {
      paymentType,
      ...(amount === undefined ? {} : eur(amount)),
    } as never)
  const authorise = async () => (await run.pay({ paymentType: 'PA' })).id
  const sale = async () => (await run.pay()).id
  const modification = async (id: string) => {
    const reference = await run.referenceOf(id)
    return run.adyen.ledger.modifications.find((one) => one.reference === reference)!
  }
  const payment = async (id: string) => run.adyen.ledger.byReference(await run.keyOf(id))!

  test('the account is checked with its own credentials', async () => {
    assert.deepEqual(await run.gateway.accounts.check(run.account), { is: 'accepted' })
  })

  test('a capture that fails gives its amount back, once, and can be tried again', async () => {
    const authorised = await authorise()
    const { id } = await follow(authorised, 'CP', '60.00')
    assert.equal(await run.code(id), done)
    run.adyen.ledger.fail(await modification(id))
    const failed = run.adyen.messageAbout(await run.referenceOf(id))
    await run.tell(failed, failed)
    assert.equal(await run.code(id), '900.100.202')
    assert.equal((await balanceOf(run, authorised)).captured, 0n)
    const again = await follow(authorised, 'CP', '92.00')
    await run.tellAbout(again.id)
    assert.equal((await balanceOf(run, authorised)).captured, 9200n)
    assert.equal((await payment(authorised)).captured, 9200)
  })

  test('a capture that Adyen makes again after its failure is counted, and an operator has to look', async () => {
    const authorised = await authorise()
    const { id } = await follow(authorised, 'CP', '60.00')
    await run.tellAbout(id)
    const one = await modification(id)
    run.adyen.ledger.fail(one)
    await run.tellAbout(id)
    run.adyen.ledger.recapture(one)
    await run.tellAbout(id)
    const { captured, capturing } = await balanceOf(run, authorised)
    assert.equal(captured + capturing, 6000n, 'nobody captures it twice')
    assert.ok((await run.listed(id)).includes('conflict'))
    // Who asks Adyen finds that the money is there.
    const by = { by: 'alice', reason: 'the Customer Area shows it as captured again' }
    await run.operator.settle(id, 'approved', by)
    assert.equal((await balanceOf(run, authorised)).captured, 6000n)
  })

  test('a refund that fails or comes back gives its amount back, once', async () => {
    const paid = await sale()
    for (const as of ['failed', 'reversed'] as const) {
      const { id } = await follow(paid, 'RF', '10.00')
      await run.tellAbout(id)
      assert.equal((await balanceOf(run, paid)).refunded, 1000n)
      run.adyen.ledger.fail(await modification(id), as)
      await run.tellAbout(id)
      await run.tellAbout(id)
      assert.equal((await balanceOf(run, paid)).refunded, 0n)
    }
    assert.equal((await payment(paid)).refunded, 0)
  })

  test('a refund that Adyen refuses after it took it moves nothing', async () => {
    const authorised = await authorise()
    const { id: captured } = await follow(authorised, 'CP', '60.00')
    run.adyen.ledger.fail(await modification(captured))
    const { id } = await follow(captured, 'RF', '10.00')
    await run.tellAbout(id)
    assert.equal(await run.code(id), '900.100.202')
    await run.tellAbout(captured)
    assert.equal((await balanceOf(run, authorised)).captured, 0n)
  })

  test('a cancellation after a capture at Adyen fails, and the authorisation is there again', async () => {
    const authorised = await authorise()
    const there = await payment(authorised)
    // Captured in the Customer Area.
    run.adyen.ledger.modify('capture', there, 'by hand')
    const { id } = await follow(authorised, 'RV')
    assert.equal(await run.code(id), done)
    await run.tellAbout(id)
    assert.equal(await run.code(id), '700.300.700')
    assert.equal((await balanceOf(run, authorised)).reversed, 0n)
  })

  test('a sale is cancelled or refunded as a whole', async () => {
    const paid = await sale()
    const { id } = await follow(paid, 'RV')
    await run.tellAbout(id)
    assert.equal(await run.code(id), done)
    assert.equal((await payment(paid)).refunded, 9200)
  })

  test('an increase counts once Adyen confirms it, and not if the issuer refuses', async () => {
    const authorised = await authorise()
    const increase = async (amount: string) =>
      (
        await run.gateway.payments.followUp(authorised, {
          paymentType: 'PA',
          ...eur(amount),
          standingInstruction: { industryPractice: 'INCREMENTAL_AUTH' },
        } as never)
      ).id
    const first = await increase('8.00')
    assert.equal(await run.code(first), '000.200.000')
    assert.equal((await balanceOf(run, authorised)).authorised, 9200n)
    assert.equal(await run.code(await increase('5.00')), '700.300.300', 'one at a time')
    await run.tellAbout(first)
    assert.equal((await balanceOf(run, authorised)).authorised, 10_000n)
    const second = await increase('5.00')
    assert.equal((await payment(authorised)).authorised, 10_500, 'the new sum')
    const one = await modification(second)
    Object.assign(one, { success: false })
    await run.tellAbout(second)
    assert.equal(await run.code(second), '800.100.152')
    assert.equal((await balanceOf(run, authorised)).authorised, 10_000n)
  })

  test('a payment whose answer was lost is approved by its webhook, which may come twice', async () => {
    run.front.meet(lost, newPayment)
    const { id, result } = await run.pay()
    assert.equal(result.code, open)
    const message = run.adyen.messageAbout(await run.keyOf(id))
    await run.tell(message, message)
    assert.equal(await run.code(id), done)
    assert.equal((await balanceOf(run, id)).captured, 9200n)
    const key = await run.keyOf(id)
    assert.equal(run.adyen.ledger.payments.filter(({ reference }) => reference === key).length, 1)
  })

  test('a payment that Adyen never got is declined once Adyen knows nothing to cancel', async () => {
    run.front.meet(never, newPayment)
    const { id, result } = await run.pay()
    assert.equal(result.code, open)
    const key = await run.keyOf(id)
    await asked(id, key)
    run.adyen.ledger.endUndo(key, 'by itself')
    await run.tell(run.adyen.messageAbout(key))
    await run.untilCode(id, '900.100.400')
    assert.equal(run.adyen.ledger.byReference(key), undefined)
  })

  test('a sale whose answer was lost, and whose webhook comes late, is taken back as a whole', async () => {
    run.front.meet(lost, newPayment)
    const { id } = await run.pay()
    const key = await run.keyOf(id)
    const late = run.adyen.messageAbout(key)
    await asked(id, key)
    await run.tell(late)
    run.adyen.ledger.endUndo(key, 'by itself')
    await run.tell(run.adyen.messageAbout(key))
    await asked(id, key)
    assert.equal(run.adyen.ledger.undoOf(key)?.by, 'payment')
    run.adyen.ledger.endUndo(key, 'by itself')
    await run.tell(run.adyen.messageAbout(key))
    await run.untilCode(id, '900.100.400')
    assert.equal(run.adyen.ledger.byReference(key)?.isUndone, true)
  })

  test('a payment that arrives at Adyen after it was given up is taken back', async () => {
    const held = run.front.meet(never, newPayment)
    const { id } = await run.pay()
    const key = await run.keyOf(id)
    await asked(id, key)
    run.adyen.ledger.endUndo(key, 'by itself')
    await run.tell(run.adyen.messageAbout(key))
    await run.untilCode(id, '900.100.400')
    await held.release()
    assert.equal(run.adyen.ledger.byReference(key)?.captured, 9200, 'it arrived')
    await run.tell(run.adyen.messageAbout(key))
    await asked(id, key)
    run.adyen.ledger.endUndo(key, 'by itself')
    await run.tell(run.adyen.messageAbout(key))
    await until(async () => {
      const listed = await run.listed(id)
      return listed.length === 0 ? true : undefined
    })
    assert.equal(run.adyen.ledger.byReference(key)?.isUndone, true)
    assert.equal(await run.code(id), '900.100.400')
  })

  test('a capture without an answer is sent again by its key, and made once', async () => {
    for (const fault of [lost, never]) {
      const authorised = await authorise()
      run.front.meet(fault, 'any')
      const { id } = await follow(authorised, 'CP', '60.00')
      assert.equal(await run.code(id), open)
      await run.untilCode(id, done)
      assert.equal((await payment(authorised)).captured, 6000)
      assert.equal((await balanceOf(run, authorised)).captured, 6000n)
      await run.tellAbout(id)
      assert.equal((await balanceOf(run, authorised)).captured, 6000n)
    }
  })

  test('a webhook before the answer, and the end of a capture before its payment, change no sums', async () => {
    const authorised = await authorise()
    const { id } = await follow(authorised, 'CP', '60.00')
    await run.tellAbout(id)
    await run.tell(run.adyen.messageAbout(await run.keyOf(authorised)))
    await run.tellAbout(id)
    assert.equal((await balanceOf(run, authorised)).captured, 6000n)
    assert.deepEqual(await run.listed(authorised), [])
    assert.deepEqual(await run.listed(id), [])
  })

  test('a forged webhook settles nothing', async () => {
    run.front.meet(lost, newPayment)
    const { id } = await run.pay()
    const genuine = run.adyen.messageAbout(await run.keyOf(id))
    const text = genuine.body.toString().replaceAll('hmacSignature', 'hmacSignatura')
    await sentAgain(
      run.gateway.inbound('adyen', run.account, { ...genuine, body: Buffer.from(text) }),
    )
    assert.notEqual(await run.code(id), done)
    await run.tell(genuine)
  })

  test('a signed message that nobody can read is taken, and operators have it on their list', async () => {
    const { id } = await run.pay()
    const key = await run.keyOf(id)
    const about = {
      eventCode: 'CHARGEBACK',
      success: true,
      amount: { value: 9200, currency: 'EUR' },
    }
    const before = (await run.gateway.attention()).length
    for (const pspReference of ['a:b', 'a\u0000', 'x'.repeat(300)]) {
      await run.tell(run.adyen.message({ ...about, pspReference, merchantReference: key }))
    }
    await run.tell(run.adyen.message(reportItem('payout:report 7.csv', '')))
    const listed = (await run.gateway.attention()).slice(-3)
    assert.equal((await run.gateway.attention()).length, before + 3)
    for (const { kind, detail } of listed) {
      assert.equal(kind, 'event')
      assert.match(JSON.stringify(detail), /malformed/)
    }
    assert.equal(await run.code(id), done)
  })

  /** Makes the engine ask for a reversal, and waits until Adyen took one. */
  async function asked(id: string, key: string): Promise<void> {
    const { ledger } = run.adyen
    await until(async () => {
      if (ledger.undoOf(key)?.state === 'asked') return true
      await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
      return undefined
    })
    // The record of the request, which the end waits for.
    await until(async () => {
      const [row] = await run.sql<{ lease_until: Date | null }>(
        'select lease_until from tollgate.attempt where payment_id = $1',
        [id],
      )
      return row?.lease_until === null ? true : undefined
    })
  }
})

describe('the settlement of payments at Adyen', () => {
  let run: AdyenRun
  before(async () => {
    run = await startAdyenRun()
  })
  after(() => run.close())

  test('a report that a webhook announced is fetched, and its lines are the payments of the engine', async () => {
    const { payments } = run.gateway
    const authorised = (await run.pay({ paymentType: 'PA' })).id
    const captured = (await payments.followUp(authorised, { paymentType: 'CP', ...eur('60.00') }))
      .id
    await run.tellAbout(captured)
    const refunded = (await payments.followUp(captured, { paymentType: 'RF', ...eur('10.00') })).id
    await run.tellAbout(refunded)
    const cancelled = (await run.pay({ paymentType: 'PA' })).id
    const { id: cancellation } = await payments.followUp(cancelled, { paymentType: 'RV' })
    await run.tellAbout(cancellation)
    const disputed = (await run.pay()).id
    const there = run.adyen.ledger.byReference(await run.keyOf(disputed))!
    const pspReference = newReference()
    const amount = { value: 9200, currency: 'EUR' }
    await run.tell(run.adyen.message(disputeItem(there, pspReference, amount, 'CHARGEBACK')))
    const disputes: Dispute[] = [{ type: 'Chargeback', payment: there, pspReference, amount }]

    const name = 'settlement_detail_report_batch_12.csv'
    const about = {
      merchantAccount: 'TestMerchant',
      batch: 12,
      day: new Date().toISOString().slice(0, 10),
    }
    run.adyen.reports.set(name, reportOfBooks(run.adyen.ledger, about, 'EUR', disputes))
    await run.tell(run.adyen.message(reportItem(name, `${run.adyen.url}/elsewhere`)))
    const file = await until(async () => {
      // The engine plans the fetches of a new account within minutes.
      await run.sql(
        `insert into tollgate.timer (id, due_at, kind, ref)
         values (gen_random_uuid(), now(), 'settlement-fetch', $1)
         on conflict (kind, ref) do update set due_at = now()`,
        [run.account],
      )
      const [row] = await run.sql<{ id: string; state: string; refused_why: string | null }>(
        'select id, state, refused_why from tollgate.settlement_file',
      )
      assert.equal(row?.refused_why ?? null, null)
      return row?.state === 'done' ? row : undefined
    })
    const view = await run.gateway.settlement.file(file.id)
    assert.deepEqual(view.exceptions, [])
    const records = await run.sql<{
      record_type: string
      transaction_type: string
      status: string
      named: string
    }>(
      `select record_type, transaction_type, match_status as status, replace(candidates[1]::text, '-', '') as named
         from tollgate.settlement_record order by line`,
    )
    assert.deepEqual(
      records.map(({ record_type, transaction_type, status, named }) => [
        record_type,
        transaction_type,
        status,
        named,
      ]),
      [
        ['SETTLED', 'DEBIT', 'MATCHED', disputed],
        ['SETTLED', 'DEBIT', 'MATCHED', captured],
        ['SETTLED', 'REFUND', 'MATCHED', refunded],
        ['CHARGEBACK', 'DEBIT', 'MATCHED', disputed],
      ],
    )
    const facts = await run.sql<{ count: bigint }>(
      "select count(*) as count from tollgate.payment where referenced_id = $1 and payment_type = 'CB'",
      [disputed],
    )
    assert.equal(facts[0]?.count, 1n, 'webhook and report tell of one chargeback')
    const [final] = await run.sql<{ final_by: string | null }>(
      'select final_by from tollgate.payment where id = $1',
      [captured],
    )
    assert.equal(final?.final_by, null, 'a settled capture is final')
  })
  test('a report that comes again with other line ends is one report, with each fee once', async () => {
    const about = {
      merchantAccount: 'TestMerchant',
      batch: 900,
      day: '2026-03-31',
    }
    const cents = (minor: bigint) => ({ minor, currency: 'EUR' })
    const lines = [
      batchLine(about, 'Fee', cents(1n), ''),
      batchLine(about, 'Fee', cents(1n), ''),
      batchLine(about, 'Balancetransfer', cents(5n), ''),
    ]
    const text = reportOf(lines).toString()
    const known = async () =>
      run.sql(
        "select line, kind, minor from tollgate.settlement_batch_line where batch = '900' order by line",
      )
    const bring = async (spelt: string) => {
      const bytes = streamed(Buffer.from(spelt))
      const { id } = await run.gateway.settlement.import(bytes, { accountId: run.account })
      await until(async () => {
        const { state, refused } = await run.gateway.settlement.file(id)
        assert.equal(refused, undefined)
        return state === 'done' || undefined
      })
    }
    await bring(text)
    const once = await known()
    assert.deepEqual(
      once.map((row) => row.line),
      [2, 3, 4],
    )
    for (const spelt of [
      text.replaceAll('\n', '\r\n'),
      text.replaceAll('\n', '\r'),
      `\uFEFF${text}`,
      text.trimEnd(),
    ]) {
      await bring(spelt)
      assert.deepEqual(await known(), once)
    }
  })
})
