import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Context, type Operation, unknown } from '@tollgate/plugin-kit'
import {
  type AcquirerRun,
  message,
  processed,
  scriptedName,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { testKey } from '../../rig/gateway.ts'
import { projectFolder, type Ran, runTollgate } from './tollgate.ts'

describe('the command line: operators', () => {
  let run: AcquirerRun
  let project: Awaited<ReturnType<typeof projectFolder>>
  let env: Record<string, string>

  const silence = {
    debit: (_: Operation, context: Context) => {
      context.sending()
      return unknown('the line went dead')
    },
    enquire: () => unknown('the acquirer is down'),
    reverseByKey: () => unknown('the acquirer is down'),
  }

  before(async () => {
    run = await startWithAcquirer()
    project = await projectFolder()
    env = { DATABASE_URL: run.database.url, TOLLGATE_KEYS: testKey }
    // The command asks the acquirer itself, which knows the second payment by now.
    const acquirer = join(import.meta.dirname, '../../rig/acquirer.ts')
    await writeFile(
      join(project.path, 'tollgate.config.ts'),
      `import { approvedAs, scriptedAcquirer } from ${JSON.stringify(acquirer)}
       const acquirer = scriptedAcquirer()
       acquirer.tell('by-command', { enquire: approvedAs })
       export default { plugins: [acquirer.plugin] }\n`,
    )
  })
  after(async () => {
    await closeChecked(run)
    await project.remove()
  })

  const tollgate = (...words: string[]): Promise<Ran> =>
    runTollgate(words, { folder: project.path, env })
  const well = async (...words: string[]) => {
    const { code, out, err } = await tollgate(...words)
    assert.equal(code, 0, out + err)
    return out
  }
  const refused = async (expected: RegExp, ...words: string[]) => {
    const { code, out, err } = await tollgate(...words)
    assert.equal(code, 1, out)
    assert.match(err, expected)
    assert.doesNotMatch(err, /^\s+at /m)
  }

  test('inspect prints a payment as a timeline, more with --verbose, everything with --json', async () => {
    const paid = await run.pay({ paymentType: 'PA', merchantTransactionId: 'order-on-terminal' })
    await run.gateway.payments.capture(paid.id, { amount: '50.00', currency: 'EUR' })
    await run.gateway.payments.steps(paid.id)
    const out = await well('inspect', paid.shortId)
    assert.match(out, new RegExp(`^payment ${paid.id}\n`))
    const lines = out.split('\n').filter((line) => /^ {5,}[+-]/.test(line))
    assert.match(lines[0] ?? '', /\+0\.000 s +accepted +PA 92\.00 EUR VISA to simulator/)
    assert.match(
      lines[1] ?? '',
      /\+0\.\d{3} s +\d+(\.\d+)? ms +authorize +approved +92\.00 EUR; refs\.reference sim-/,
    )
    assert.match(lines[2] ?? '', /settled +approved +by answer: 000\.100\.110/)
    assert.match(lines[3] ?? '', /follow-up +approved +CP 50\.00 EUR: approved/)
    assert.doesNotMatch(out, /\u001b/, 'no colours where there is no terminal')
    assert.doesNotMatch(out, /Jane|4200000000000000/)
    const verbose = await well('inspect', 'order-on-terminal', '--verbose')
    assert.match(verbose, /sent card\.last4Digits +0000/)
    assert.match(verbose, /sent card\.holder +\[person\]/)
    const json = JSON.parse(await well('inspect', paid.id, '--json'))
    assert.deepEqual([json.kind, json.id, json.steps[1].name], ['payment', paid.id, 'authorize'])
    await refused(/^nothing has the number unknown-order/m, 'inspect', 'unknown-order')
    const again = await run.pay({ merchantTransactionId: 'order-on-terminal' })
    const both = await well('inspect', 'order-on-terminal')
    assert.match(both, new RegExp(`^2 payments have .*\n  ${again.id} .*\n  ${paid.id} `))
  })

  test('listing, questions, decisions and closed entries each have a name and an audit record', async () => {
    assert.match(await well('attention'), /the operators' list is empty/)
    const first = await run.debit('first-stuck', silence)
    const second = await run.debit('by-command', silence)
    for (const { id } of [first, second]) {
      await run.operator.enquire(id, { by: 'test', reason: 'test' })
    }
    const listed = await tollgate('attention', 'list')
    assert.equal(listed.code, 2, 'somebody has to look')
    assert.match(
      listed.out,
      new RegExp(`undecided +payment ${first.id} +.* ago +undecided after an enquiry`),
    )

    assert.match(
      await well('payment', 'enquire', second.id),
      /approved 000\.100\.112: the acquirer answered/,
    )
    const open = await tollgate('payment', 'enquire', first.id, '--by', 'Alice')
    assert.equal(open.code, 2, open.err)
    assert.match(
      open.out,
      /unknown 000\.200\.001: the acquirer was asked, and the payment is still open/,
    )

    const settle = ['payment', 'settle', first.id]
    await Promise.all([
      refused(/^--as is missing/m, ...settle, '--reason', 'x'),
      refused(/^--as must be approved or declined/m, ...settle, '--as', 'paid', '--reason', 'x'),
      refused(/^--reason is missing/m, ...settle, '--as', 'declined'),
    ])
    const decide = [
      'payment',
      'settle',
      first.id,
      '--as',
      'declined',
      '--reason',
      'not in their file',
    ]
    assert.match(await well(...decide), /declined 900\.100\.300: settled as declined/)
    await Promise.all([
      refused(/the payment is declined already, and a decision is final/, ...decide),
      refused(/no work is left for it/, 'payment', 'redrive', first.id),
      refused(/nothing has the number 0{32}/, 'payment', 'redrive', '0'.repeat(32)),
    ])

    await run.sql(
      `insert into tollgate.attention (id, kind, payment_id, detail)
       values ('01900000000070008000000000000001', 'conflict', $1, '{"row":"declined"}')`,
      [first.id],
    )
    const { out } = await tollgate('attention')
    assert.match(out, new RegExp(` conflict +payment ${first.id} of \\d+\\.\\d\\d EUR `))
    const [entry = ''] = out.split(' ')
    assert.match(
      await well('attention', 'resolve', entry, '--reason', 'refunded by hand'),
      /conflict of payment .* is off the list/,
    )
    assert.match(await well('attention', 'list'), /the operators' list is empty/)

    const audit = await run.sql<{
      kind: string
      actor: string
      action: string
      name: string | null
    }>(
      `select actor_kind as kind, actor, action, detail ->> 'onBehalfOf' as name from tollgate.audit where resource = $1 and actor <> 'test' order by at`,
      [first.id],
    )
    const me = userInfo().username
    const kind = 'system-user'
    assert.deepEqual(
      audit.filter(({ actor }) => actor !== 'engine'),
      [
        // The system's user acts, whatever --by says.
        { kind, actor: me, action: 'payment.enquired', name: 'Alice' },
        { kind, actor: me, action: 'payment.settled', name: null },
        { kind, actor: me, action: 'attention.resolved', name: null },
      ],
    )
    const told = await well('inspect', first.id)
    assert.match(
      told,
      new RegExp(
        `decision +payment\\.settled +by ${me}: as declined, lease \\d+; "not in their file"`,
      ),
    )
  })

  test('payment reverse-chargeback records a reversal, and lists the standing chargebacks of a payment', async () => {
    const { id } = await run.debit('charged-back')
    await run.gateway.inbound(
      scriptedName,
      run.account,
      message({
        eventId: 'charged-back',
        key: await run.keyOf(id),
        outcome: { is: 'chargeback', reason: '000.100.220', refs: {} },
      }),
    )
    assert.equal(await processed(run, 'charged-back'), 'recorded')
    const [row] = await run.sql<{ record_id: string }>(
      'select record_id from tollgate.chargeback where payment_id = $1',
      [id],
    )
    const reverse = ['payment', 'reverse-chargeback']
    const why = ['--reason', 'in the file of the 21st']
    await refused(/--reason/, ...reverse, row!.record_id)
    await refused(
      new RegExp(`open chargebacks of this payment: ${row!.record_id}`),
      ...reverse,
      id,
      ...why,
    )
    assert.match(
      await well(...reverse, row!.record_id, ...why),
      /^92\.00 EUR of chargeback .* are reversed/,
    )
    const refund = await run.gateway.payments.refund(id, { amount: '92.00', currency: 'EUR' })
    assert.equal(refund.result.code, '000.100.112')
  })
})
