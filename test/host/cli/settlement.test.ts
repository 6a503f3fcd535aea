import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { testKey } from '../../rig/gateway.ts'
import { olderTransactionsEnd } from '../../rig/older-transactions.ts'
import { type SettlingRun, settled, settlementFile, startSettling } from '../../rig/settlement.ts'
import { storePayout } from '../../rig/stored-payouts.ts'
import { projectFolder, runTollgate } from './tollgate.ts'

describe('the command line: settlement', () => {
  let run: SettlingRun
  let project: Awaited<ReturnType<typeof projectFolder>>

  before(async () => {
    // A running installation, whose worker reads what the command imports.
    run = await startSettling()
    project = await projectFolder()
    const rig = join(import.meta.dirname, '../../rig/settlement.ts')
    await writeFile(
      join(project.path, 'tollgate.config.ts'),
      `import { settlingAcquirer } from ${JSON.stringify(rig)}
       export default { plugins: [settlingAcquirer().plugin] }\n`,
    )
    const lines = [settled({ id: 'CLI-1' }), settled({ id: 'CLI-2', merchant: 'MID-NOBODY' })]
    await writeFile(join(project.path, 'good.csv'), settlementFile(lines))
    await writeFile(join(project.path, 'bad.csv'), settlementFile([settled({ date: 'never' })]))
    await writeFile(join(project.path, 'empty.csv'), '')
    await mkdir(join(project.path, 'folder'))
  })
  after(async () => {
    await run.close()
    await project.remove()
  })

  const tollgate = (...words: string[]) =>
    runTollgate(words, {
      folder: project.path,
      env: { DATABASE_URL: run.database.url, TOLLGATE_KEYS: testKey },
    })
  const imported = async (...words: string[]) => {
    const { code, out, err } = await tollgate('settlement', 'import', ...words)
    assert.equal(code, 0, out + err)
    const id = /settlement show ([0-9a-f]{32})/.exec(out)?.[1] ?? ''
    await run.read(id)
    return { id, out }
  }

  describe('tollgate settlement', () => {
    test('imports a file, shows it with the lines that it left out, and lists it', async () => {
      const { id, out } = await imported('good.csv', '--account', run.account)
      assert.match(out, /^stored [0-9]+ bytes/)
      const shown = await tollgate('settlement', 'show', id)
      assert.equal(shown.code, 0, shown.err)
      assert.match(shown.out, /state +done/)
      assert.match(shown.out, /name +good\.csv/)
      assert.match(
        shown.out,
        /line 3 +UNKNOWN_ACCOUNT +no account has the merchant number MID-NOBODY/,
      )
      const again = await imported('good.csv', '--account', run.account)
      assert.match(again.out, /these bytes were imported before/)
      assert.equal(again.id, id)
      const list = await tollgate('settlement', 'list', '--limit', '1')
      assert.match(list.out, new RegExp(`^${id} .*done.*good\\.csv +1 record +1 line left out\n$`))
      const attention = await tollgate('attention')
      assert.equal(attention.code, 2)
      assert.match(attention.out, new RegExp(`settlement +file ${id}.*MID-NOBODY`))
      const [audited] = await run.sql<{ actor_kind: string }>(
        "select actor_kind from tollgate.audit where action = 'settlement.imported' and resource = $1",
        [id],
      )
      assert.equal(audited!.actor_kind, 'system-user')
    })

    test('prints a difference with both amounts for a spreadsheet, and takes a checked one off the list', async () => {
      const { id: payment } = await run.pay({
        testMode: 'EXTERNAL',
        merchantTransactionId: '=order;1',
      })
      const line = settled({ id: 'CLI-DIFF', paymentId: payment, amount: '90.00' })
      await writeFile(join(project.path, 'difference.csv'), settlementFile([line]))
      const { id } = await imported('difference.csv', '--account', run.account)
      const printed = await tollgate('settlement', 'exceptions', '--file', id, '--csv')
      const [head, row, ...rest] = printed.out.split('\r\n')
      assert.match(
        head!,
        /^RecordId;File;Line;.*;Expected;ExpectedCurrency;Reported;Currency;SettlementStatus$/,
      )
      assert.match(row!, /;MATCHED AMOUNT;"'=order;1";[0-9a-f]{32};92\.00;EUR;90\.00;EUR;SUCCESS$/)
      assert.deepEqual(rest, [''])
      const [record = ''] = row!.split(';')
      const checked = await tollgate('settlement', 'check', record, '--reason', 'agreed')
      assert.equal(checked.out, `record ${record} is checked: MATCHED AMOUNT\n`)
      const left = await tollgate('settlement', 'exceptions', '--file', id)
      assert.equal(left.out, 'there is no record to check\n')
      const day = new Date().toISOString().slice(0, 10)
      const open = await tollgate('settlement', 'unsettled', '--from', day, '--to', day)
      assert.doesNotMatch(open.out, new RegExp(payment))
    })

    test('says that a record reports as failed what was approved, on each list', async () => {
      const { id: payment } = await run.pay({ testMode: 'EXTERNAL' })
      const line = settled({ id: 'CLI-FAILED', paymentId: payment, status: 'FAILED' })
      await writeFile(join(project.path, 'failed.csv'), settlementFile([line]))
      const { id } = await imported('failed.csv', '--account', run.account)
      const listed = await tollgate('settlement', 'exceptions', '--file', id)
      assert.match(listed.out, /reported 92\.00 EUR as FAILED +MATCHED STATE +expected 92\.00 EUR/)
      const printed = await tollgate('settlement', 'exceptions', '--file', id, '--csv')
      assert.match(printed.out, /;MATCHED STATE;.*;92\.00;EUR;FAILED\r\n$/)
    })

    test('says why a file was refused, and imports it without its bad lines', async () => {
      const { id } = await imported('bad.csv', '--account', run.account)
      const shown = await tollgate('settlement', 'show', id)
      assert.equal(shown.code, 2)
      assert.match(shown.out, /refused +line 2: date must be a calendar day/)
      const skipping = ['--account', run.account, '--skip-bad-lines', '--name', 'corrected']
      const next = await imported('bad.csv', ...skipping)
      const json = await tollgate('settlement', 'show', next.id, '--json')
      const file = JSON.parse(json.out)
      assert.deepEqual([file.state, file.name, file.exceptionCount], ['done', 'corrected', 1])
    })

    test('lists the records to check of a file, gives a record to its payment, and reads a file again', async () => {
      const lines = [settled({ id: 'CLI-3' }), settled({ id: 'CLI-4', amount: '9.00' })]
      await writeFile(join(project.path, 'early.csv'), settlementFile(lines))
      const { id } = await imported('early.csv', '--account', run.account)
      const listed = await tollgate('settlement', 'exceptions', '--file', id)
      assert.equal(listed.code, 0, listed.err)
      assert.equal(listed.out.trim().split('\n').length, 2)
      const record = /^([0-9a-f]{32}) .*92\.00 EUR +NOT_MATCHED/m.exec(listed.out)?.[1] ?? ''
      const payment = await run.pay({ testMode: 'EXTERNAL' })
      const reason = ['--reason', 'agreed with the bank']
      const assigned = await tollgate('settlement', 'assign', record, payment.shortId, ...reason)
      assert.equal(assigned.code, 0, assigned.err)
      assert.match(assigned.out, new RegExp(`record ${record} is about ${payment.id}`))
      const left = await tollgate('settlement', 'exceptions', '--file', id, '--json')
      assert.deepEqual(
        JSON.parse(left.out).map(({ amount }: { amount: string }) => amount),
        ['9.00'],
      )
      const again = await tollgate('settlement', 'rerun', id, ...reason)
      assert.equal(again.code, 0, again.err)
      assert.match(again.out, /a running worker reads the file again/)
      await run.read(id)
    })

    test('makes the CSV files of new records, once', async () => {
      const { entities } = run.gateway
      const parentId = run.division
      const merchant = await entities.create({ kind: 'merchant', name: 'Books', parentId })
      const name = { kind: 'channel', name: 'Books', parentId: merchant } as const
      const channel = await entities.create(name)
      // Of a merchant whose files no worker makes.
      await storePayout(run, { channel, merchant }, { holder: 'Jane', reference: 'order-1' })
      await olderTransactionsEnd(run)
      const foreign = await tollgate('settlement', 'report', '--entity', '0'.repeat(32))
      assert.equal(foreign.code, 1)
      assert.match(foreign.err, /^there is no entity with the id of --entity/m)
      const report = ['settlement', 'report', '--entity', merchant]
      const made = await tollgate(...report)
      assert.equal(made.code, 0, made.err)
      const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
      const line = `^[0-9a-f]{32} +reconciliation-${merchant}-${day}-000001\\.csv +1 record\n$`
      assert.match(made.out, new RegExp(line))
      const again = await tollgate(...report)
      assert.deepEqual([again.code, again.out], [0, 'no new records\n'])
      const none = await tollgate(...report, '--json')
      assert.deepEqual([none.code, JSON.parse(none.out)], [0, []])
    })

    const mistakes: readonly [string, () => string[], RegExp][] = [
      ['no account', () => ['import', 'good.csv'], /--account is missing/],
      [
        'an unknown account',
        () => ['import', 'good.csv', '--account', 'x'],
        /^--account must be the id of an acquirer account$/m,
      ],
      [
        'no file',
        () => ['import', 'none.csv', '--account', run.account],
        /there is no file none\.csv/,
      ],
      ['a folder', () => ['import', 'folder', '--account', run.account], /folder is not a file/],
      [
        'an empty file',
        () => ['import', 'empty.csv', '--account', run.account],
        /empty\.csv is empty/,
      ],
      ['an unknown id', () => ['show', 'x'], /There is no settlement file/],
      ['a wrong limit', () => ['list', '--limit', '0'], /--limit must be a whole number/],
      [
        'exceptions of an unknown file',
        () => ['exceptions', '--file', 'x'],
        /There is no settlement file/,
      ],
      ['no payment', () => ['assign', 'x', '--reason', 'r'], /usage: .*<record> <payment>…/],
      [
        'an unknown record',
        () => ['assign', 'x', 'f'.repeat(32), '--reason', 'r'],
        /no settlement record/,
      ],
      ['no reason', () => ['rerun', 'x'], /--reason is missing/],
    ]
    for (const [name, words, expected] of mistakes) {
      test(`names the mistake: ${name}`, async () => {
        const { code, out, err } = await tollgate('settlement', ...words())
        assert.equal(code, 1, out)
        assert.match(err, expected)
        assert.doesNotMatch(err, / at .*\.ts/)
      })
    }
  })
})
