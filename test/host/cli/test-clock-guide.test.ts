import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { createDatabase, type TestDatabase } from '../../rig/database.ts'
import { root } from '../../rig/sources.ts'
import { projectFolder, runTollgate, startTollgate } from './tollgate.ts'

describe('the command line: test clock guide', () => {
  const guide = readFileSync(path.join(root, 'docs/test-clocks.md'), 'utf8')

  let database: TestDatabase
  let project: Awaited<ReturnType<typeof projectFolder>>
  let env: Record<string, string>

  before(async () => {
    database = await createDatabase()
    project = await projectFolder()
    env = { DATABASE_URL: database.url, PORT: '0' }
  })
  after(async () => {
    await database.drop()
    await project.remove()
  })

  test('the commands of the guide charge three months in a moment', async () => {
    const served = startTollgate(['serve'], { folder: project.path, env })
    try {
      await served.said(/A first payment/)
      const said = (name: string) => new RegExp(`${name} +(\\S+)`).exec(served.text.out)?.[1] ?? ''
      const script = /```sh\n([\s\S]*?)\n```/.exec(guide)?.[1] ?? ''
      const { stdout } = await promisify(execFile)('sh', ['-euc', script], {
        env: {
          PATH: process.env.PATH,
          BASE_URL: said('Base URL'),
          ENTITY_ID: said('Entity id'),
          ACCESS_TOKEN: said('Access token'),
        },
      })
      const { executions } = JSON.parse(stdout) as {
        executions: { scheduledAt: string; state: string }[]
      }
      assert.deepEqual(
        executions.map(({ scheduledAt, state }) => `${scheduledAt} ${state}`),
        [
          '2027-03-31 06:00:00+0000 APPROVED',
          '2027-02-28 06:00:00+0000 APPROVED',
          '2027-01-31 06:00:00+0000 APPROVED',
        ],
      )
    } finally {
      await served.end()
    }
  })

  test('the demo shows a subscription from its first payment to its end', async () => {
    const { code, out, err } = await runTollgate(['demo', 'subscription'], {
      folder: project.path,
      env,
    })
    assert.equal(code, 0, err)
    for (const moment of ['2027-01-31', '2027-02-28', '2027-03-31']) {
      assert.match(
        out,
        new RegExp(`^ +${moment} 06:00:00\\+0000 +9.90 EUR +APPROVED +payment [0-9a-f]{32}$`, 'm'),
      )
    }
    assert.match(out, /CANCELLED, effective/)
    assert.match(out, /charged 3 times in all, as before/)
    assert.doesNotMatch(err, /"level":"info"/, 'no line of the log stands between the steps')
  })

  test('the demo shows payments in a settlement file, a chargeback, and the reports', async () => {
    const { code, out, err } = await runTollgate(['demo', 'reconciliation'], {
      folder: project.path,
      env,
    })
    assert.equal(code, 0, err)
    const lines = out.split('\n')
    const settled = lines.filter((line) => /^ +(SETTLED|CHARGEBACK) /.test(line))
    assert.deepEqual(settled.map((line) => line.trim().replaceAll(/ {2,}/g, ' ')).sort(), [
      'CHARGEBACK DEBIT -40.00 fee 15.00 SUCCESS MATCHED will be charged back',
      'SETTLED DEBIT 15.95 fee 0.32 SUCCESS MATCHED will settle without any id',
      'SETTLED DEBIT 20.92 fee 0.39 SUCCESS MATCHED DUPLICATE_SETTLEMENT will settle twice',
      'SETTLED DEBIT 20.92 fee 0.39 SUCCESS MATCHED DUPLICATE_SETTLEMENT will settle twice',
      'SETTLED DEBIT 30.94 fee 0.00 FAILED MATCHED STATE will not be paid out',
      'SETTLED DEBIT 40.00 fee 0.66 SUCCESS MATCHED will be charged back',
      'SETTLED DEBIT 49.99 fee 0.80 SUCCESS MATCHED AMOUNT will settle one cent too low',
      'SETTLED DEBIT 92.00 fee 1.39 SUCCESS MATCHED an ordinary sale',
      'SETTLED REFUND -12.00 fee 0.00 SUCCESS MATCHED its refund',
    ])
    assert.match(out, /^ +CB 40\.00 EUR +000\.100\.220 /m)
    const header = lines.find((line) => line.startsWith('ReconciliationType;'))
    assert.equal(header?.split(';').length, 36)
    assert.equal(lines.filter((line) => /^(SETTLED|CHARGEBACK);/.test(line)).length >= 9, true)
    assert.doesNotMatch(err, /"level":"info"/, 'no line of the log stands between the steps')
  })
})
