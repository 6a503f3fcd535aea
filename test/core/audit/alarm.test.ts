/** The security log reports events and cannot fill a disk. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { alarms, GuessedIds, marked } from '../../../core/audit/alarm.ts'
import { type Caller, newId } from '../../../core/index.ts'
import {
  type AcquirerRun,
  message,
  scriptedName,
  sentAgain,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'

type Line = { fields: Readonly<Record<string, unknown>>; message: string }

function logged() {
  const lines: Line[] = []
  let nowMs = 0
  const clock = { elapsedMs: () => nowMs, realMs: () => nowMs }
  const write = (fields: Line['fields'], text: string) => void lines.push({ fields, message: text })
  const log = marked({ info: write, warn: write })
  return { lines, clock, alarm: alarms(log, clock as never), pass: (ms: number) => (nowMs += ms) }
}

describe('alarms', () => {
  test('an alarm of one kind and subject is logged once a minute, with its count', () => {
    const { lines, alarm, pass } = logged()
    for (let no = 0; no < 1_000; no += 1) alarm('lockout', { subject: 'ada' })
    alarm('lockout', { subject: 'grace', address: '203.0.113.9' })
    alarm('card-testing', { subject: 'ada' })
    assert.deepEqual(lines, [
      { fields: { security: true, alarm: 'lockout', subject: 'ada' }, message: 'alarm: lockout' },
      {
        fields: { security: true, alarm: 'lockout', subject: 'grace', address: '203.0.113.9' },
        message: 'alarm: lockout',
      },
      {
        fields: { security: true, alarm: 'card-testing', subject: 'ada' },
        message: 'alarm: card-testing',
      },
    ])
    pass(limits.alarmMs)
    alarm('lockout', { subject: 'ada' })
    assert.deepEqual(lines.at(-1)?.fields, {
      security: true,
      alarm: 'lockout',
      subject: 'ada',
      repeated: 999,
    })
  })

  test('alarms about ever new subjects stop at a number of lines, count the rest, and hide no other kind', () => {
    const { lines, alarm, pass } = logged()
    for (let no = 0; no < 50_000; no += 1) alarm('guessed-id', { subject: `token ${no}` })
    assert.equal(lines.length, limits.alarmsPerKind)
    alarm('last-resort', { subject: 'router' })
    assert.equal(lines.at(-1)?.fields.alarm, 'last-resort')
    pass(limits.alarmMs)
    alarm('guessed-id', { subject: 'token' })
    assert.deepEqual(
      lines.slice(-2).map(({ fields }) => [fields.untold, fields.subject]),
      [
        [50_000 - limits.alarmsPerKind, undefined],
        [undefined, 'token'],
      ],
    )
  })

  test('alarms that were held back are told when nothing more comes', ({ mock }) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const { lines, alarm, pass } = logged()
    for (let no = 0; no < 1_000; no += 1) alarm('forged-event', { subject: 'one' })
    for (let no = 0; no < 1_000; no += 1) alarm('guessed-id', { subject: `token ${no}` })
    lines.splice(0)
    pass(limits.alarmMs)
    mock.timers.tick(limits.alarmMs)
    assert.deepEqual(
      lines.map(({ fields: { alarm: kind, subject, repeated, untold } }) => [
        kind,
        subject ?? untold,
        repeated,
      ]),
      [
        ['forged-event', 'one', 999],
        ['guessed-id', 1_000 - limits.alarmsPerKind, undefined],
      ],
    )
    lines.splice(0)
    pass(10 * limits.alarmMs)
    mock.timers.tick(10 * limits.alarmMs)
    assert.deepEqual(lines, [])
  })

  test('a token that repeats one foreign id raises no guessing alarm; a token that asks for many does', () => {
    const { lines, clock, alarm, pass } = logged()
    const guessed = new GuessedIds(alarm, clock as never)
    for (let no = 0; no < 500; no += 1) guessed.missed('poller', 'the same', undefined)
    for (let no = 1; no < limits.guessedIds; no += 1)
      guessed.missed('clumsy', `id ${no}`, undefined)
    pass(limits.alarmMs)
    guessed.missed('clumsy', 'another', undefined)
    assert.equal(lines.length, 0)
    for (let no = 0; no < 500; no += 1) guessed.missed('guesser', newId(), '203.0.113.9')
    assert.equal(lines.length, 1)
    const { subject, token, ids, address } = lines[0]!.fields
    assert.deepEqual(
      [subject, token, ids, address],
      ['guesser', 'guesser', limits.guessedIds, '203.0.113.9'],
    )
  })
})

describe('a running engine raises an alarm', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer()
  })
  after(() => closeChecked(run))
  const raised = (kind: string) =>
    run.logs.filter(({ fields }) => fields.alarm === kind).map(({ fields }) => fields)

  test("a message that is not proven to be its acquirer's raises an alarm", async () => {
    const key = newId()
    const forged = { eventId: 'forged-1', key, outcome: { is: 'approved', refs: {} } } as const
    await run.gateway.inbound(scriptedName, run.account, message(forged))
    assert.deepEqual(raised('forged-event'), [])
    for (const no of [1, 2, 3]) {
      const told = message({ ...forged, eventId: `forged-${no}` })
      await sentAgain(run.gateway.inbound(scriptedName, run.account, { ...told, headers: {} }))
    }
    assert.deepEqual(raised('forged-event'), [
      {
        security: true,
        alarm: 'forged-event',
        subject: `${scriptedName} ${run.account}`,
        connector: scriptedName,
        account: run.account,
      },
    ])
  })

  test('a token without the needed right raises an alarm that names the right', async () => {
    const { id, token } = await run.gateway.entities.createToken(run.channel, 'reader', {
      rights: ['read'],
    })
    const caller: Caller = await run.gateway.authenticate(`Bearer ${token}`)
    const ask = (operation: string, form: string) =>
      run.gateway.call(operation, caller, {
        body: Buffer.from(form),
        contentType: 'application/x-www-form-urlencoded',
        requestId: newId(),
        address: '198.51.100.7',
      })
    const form = `entityId=${run.channel}&amount=1.00&currency=EUR&paymentType=CD`
    for (let no = 0; no < 3; no += 1) {
      assert.equal((await ask('payments.create', form)).status, 403)
    }
    const [alarm, ...more] = raised('rights-refused')
    assert.deepEqual(more, [])
    assert.deepEqual([alarm?.token, alarm?.address, alarm?.security], [id, '198.51.100.7', true])
    assert.match(String(alarm?.right), /payout/)
  })

  test('a token that asks for payments of another merchant raises an alarm', async () => {
    const { entities } = run.gateway
    const { id, token } = await entities.createToken(run.channel, 'curious')
    const caller: Caller = await run.gateway.authenticate(`Bearer ${token}`)
    const other = await entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const channel = await entities.create({ kind: 'channel', name: 'Other', parentId: other })
    const foreign = await run.pay({ entityId: channel })
    const own = await run.pay()
    const ask = (of: string) =>
      run.gateway.call('payments.get', caller, {
        path: { id: of },
        requestId: newId(),
        address: '198.51.100.7',
      })
    for (let no = 0; no < 2 * limits.guessedIds; no += 1)
      assert.equal((await ask(own.id)).status, 200)
    for (let no = 1; no < limits.guessedIds; no += 1) assert.equal((await ask(newId())).status, 404)
    assert.deepEqual(raised('guessed-id'), [])
    assert.equal((await ask(foreign.id)).status, 404)
    const [alarm] = raised('guessed-id')
    assert.deepEqual([alarm?.token, alarm?.address], [id, '198.51.100.7'])
  })
})
