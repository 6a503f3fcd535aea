import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { groupsByName, type Operation } from '@tollgate/schemas'
import fc from 'fast-check'
import { GatewayError } from '../../../core/errors.ts'
import { conditionsOf } from '../../../core/request/conditions.ts'
import { ParameterErrors } from '../../../core/request/parameter-errors.ts'
import { type JobFields, readJob } from '../../../core/schedule/parse-job.ts'
import { openPlan, periodUnits, upcoming } from '../../../core/schedule/plan.ts'
import { hostile } from '../../rig/cron/hostile-texts.ts'
import { iso, isos, now, read, refusalOf, refuses } from './jobs.ts'

describe('a job is read with the documented defaults', () => {
  test('a job without fields runs at midnight on the first of January, every year', () => {
    const { expression, fields, firstAt } = read({})
    assert.equal(expression, '0 0 0 1 1 ? *')
    assert.deepEqual(fields, {
      second: '0',
      minute: '0',
      hour: '0',
      dayOfMonth: '1',
      month: '1',
      dayOfWeek: '?',
      year: '*',
    })
    assert.equal(iso(firstAt), '2027-01-01T00:00:00Z')
  })

  test('a default in one day field gives way, and a ? leaves the other field its default', () => {
    const days = (fields: JobFields) => {
      const { dayOfMonth, dayOfWeek } = read(fields).fields
      return `${dayOfMonth} ${dayOfWeek}`
    }
    assert.equal(days({ dayOfWeek: 'fri' }), '? FRI')
    assert.equal(days({ dayOfMonth: '15' }), '15 ?')
    assert.equal(days({ dayOfMonth: '?' }), '? 1')
    assert.equal(days({ dayOfWeek: '?' }), '1 ?')
    assert.equal(days({ dayOfMonth: '?', dayOfWeek: '2' }), '? 2')
    assert.equal(days({ dayOfMonth: 'L', dayOfWeek: '?' }), 'L ?')
  })

  test('an empty field counts as not sent', () => {
    const fields = { dayOfWeek: '', expression: '', startDate: '', noticeUnit: '', name: '' }
    assert.deepEqual(read(fields).fields, read({}).fields)
    assert.deepEqual(read({ hour: undefined }).fields, read({}).fields)
  })

  test('an expression replaces the seven fields and can omit the year', () => {
    const { expression, fields } = read({
      expression: '  0 30 08 ? * mon-fri ',
      hour: '3',
      dayOfMonth: '7',
      dayOfWeek: '6',
      name: 'weekdays',
    })
    assert.equal(expression, '0 30 08 ? * MON-FRI *')
    assert.equal(fields.expression, '  0 30 08 ? * mon-fri ')
    assert.deepEqual([fields.hour, fields.dayOfMonth, fields.dayOfWeek], ['08', '?', 'MON-FRI'])
    assert.equal(fields.name, 'weekdays')
  })

  test('a stored plan is the same plan when it is read', () => {
    const plan = read(
      {
        hour: '9',
        dayOfMonth: '31',
        month: '*',
        startDate: '2027-01-31 09:00:00',
        endDate: '2028-01-31 09:00:00',
        noticeUnit: 'DAY',
        noticeNumber: '14',
        durationUnit: 'MONTH',
        durationNumber: '1',
      },
      { zone: 'Europe/Berlin' },
    )
    assert.equal(plan.fields.startDate, Date.parse('2027-01-31T08:00:00Z'))
    assert.equal(plan.fields.endDate, Date.parse('2028-01-31T08:00:00Z'))
    assert.deepEqual(plan.notice, { number: 14, unit: 'DAY', callable: 'ANYTIME' })
    assert.deepEqual(plan.duration, { number: 1, unit: 'MONTH' })
    const opened = openPlan(plan)
    assert.deepEqual(isos(upcoming(opened, now, 100)), isos(upcoming(plan, now, 100)))
    assert.equal(upcoming(plan, now, 100).length, 8)
    assert.equal(iso(plan.firstAt), '2027-01-31T08:00:00Z')
  })

  test('the documented examples run as documented', () => {
    const at = (fields: JobFields, count: number, from = '2027-01-01T00:00:00Z') =>
      isos(upcoming(read(fields), new Date(Date.parse(from) - 1), count))
    const [day, month] = [8, 5]
    const part = (start: number, length: number, texts: readonly string[]) =>
      texts.map((text) => Number(text.slice(start, start + length)))
    const daily = { dayOfMonth: '*', month: '*' }
    const quarters = at({ ...daily, hour: '*', minute: '0/15' }, 5)
    assert.deepEqual(part(14, 2, quarters), [0, 15, 30, 45, 0])
    assert.deepEqual(at({ ...daily, hour: '*', minute: '*/15' }, 5), quarters)
    assert.deepEqual(part(11, 2, at({ ...daily, hour: '3/6' }, 5)), [3, 9, 15, 21, 3])
    const months = at({ month: '4/3' }, 5, '2027-02-01T00:00:00Z')
    assert.deepEqual(part(month, 2, months), [4, 7, 10, 1, 4])
    const fives = at({ month: '*', dayOfMonth: '1/5' }, 7)
    assert.deepEqual(part(day, 2, fives), [1, 6, 11, 16, 21, 26, 1])
    assert.deepEqual(at({ month: '*', dayOfMonth: 'L' }, 2, '2028-02-01T00:00:00Z'), [
      '2028-02-29T00:00:00Z',
      '2028-03-31T00:00:00Z',
    ])
    const lastFriday = at({ month: '*', dayOfWeek: '6L' }, 2)
    assert.deepEqual(lastFriday, ['2027-01-29T00:00:00Z', '2027-02-26T00:00:00Z'])
    assert.deepEqual(at({ month: '*', dayOfWeek: 'FRIL' }, 2), lastFriday)
    assert.deepEqual(at({ month: '*', dayOfWeek: '6#3' }, 1), ['2027-01-15T00:00:00Z'])
    // 15 May 2027 is a Saturday, 15 August a Sunday.
    assert.deepEqual(at({ month: '5', dayOfMonth: '15W' }, 1), ['2027-05-14T00:00:00Z'])
    assert.deepEqual(at({ month: '8', dayOfMonth: '15W' }, 1), ['2027-08-16T00:00:00Z'])
    assert.deepEqual(at({ month: '*', dayOfMonth: 'LW' }, 1), ['2027-01-29T00:00:00Z'])
    assert.deepEqual(at({ month: '5', dayOfMonth: '1W' }, 1), ['2027-05-03T00:00:00Z'])
    // Months without a fifth Wednesday have no run.
    assert.deepEqual(part(month, 2, at({ month: '*', dayOfWeek: '4#5' }, 3)), [3, 6, 9])
  })
})

describe('result codes of wrong time fields', () => {
  test('each wrong time field has its own code', () => {
    for (const [field, code, texts] of [
      ['second', '100.250.122', ['60', '-1', 'x', '0/0', '0/61', '?', 'L', '1,,2', ' 1']],
      ['minute', '100.250.122', ['60', '5-', '*/0', '1 ', '١']],
      ['hour', '100.250.121', ['24', '3/25', '1-24', 'noon']],
      ['dayOfMonth', '100.250.123', ['0', '32', '32W', 'L-31', '1,L', '15W,16', 'LL']],
      ['month', '100.250.124', ['0', '13', 'JANUARY', 'MON', '?', 'L']],
      ['dayOfWeek', '100.250.125', ['0', '8', 'SUNDAY', '6#6', '6#0', 'MON,FRIL', 'W']],
      ['year', '100.250.120', ['1969', '2100', '2030-2027', '27', '?']],
    ] as const) {
      for (const text of texts) {
        const what = /position [0-9]+: .*; write/
        refuses({ [field]: text }, code, [field], what)
        // Also beside an expression that replaces the field.
        refuses({ [field]: text, expression: '0 0 0 1 1 ?' }, code, [field], what)
      }
    }
  })

  test('all wrong fields are named, with their code if they share one', () => {
    refuses({ second: '60', minute: '61' }, '100.250.122', ['second', 'minute'], /write 0 to 59/)
    refuses({ hour: '24', month: '13' }, '200.300.404', ['hour', 'month'], /no such value/)
  })

  test('a wrong expression is named with position and reason', () => {
    for (const [expression, what] of [
      ['0 0 24 * * ?', /position 4 \(hour\): there is no such value; write 0 to 23/],
      ['0 0 0 1 13 ?', /position 8 \(month\): .*write 1 to 12 or JAN to DEC/],
      ['0 0 0 1 1', /position 9: the expression ends after 5 fields; write six or seven/],
      ['0 0 0 1 1 ? * *', /position 14: this is an eighth field/],
      ['0 0 0 1 1 ? 2100', /position 12 \(year\)/],
      ['0 0 0 1 1 MON', /position 10 \(dayOfWeek\): both .* choose days; write \? in one/],
      ['0 0 0 ? 1 ?', /both dayOfMonth and dayOfWeek are \?/],
      ['x', /after 1 fields/],
      [' ', /after 0 fields/],
    ] as const) {
      refuses({ expression }, '100.250.120', ['expression'], what)
    }
  })

  test('contradicting day fields are refused', () => {
    const names = ['dayOfMonth', 'dayOfWeek']
    refuses({ dayOfMonth: '1', dayOfWeek: 'MON' }, '100.250.120', names, /write \? in one of them/)
    refuses({ dayOfMonth: '*', dayOfWeek: '*' }, '100.250.120', names, /write \? in one of them/)
    refuses({ dayOfMonth: '?', dayOfWeek: '?' }, '100.250.120', names, /choose days in one of them/)
  })
})

describe('jobs without runs', () => {
  test('a job on days that do not exist or are past is refused', () => {
    const never = /no run is left/
    refuses({ dayOfMonth: '30', month: '2' }, '100.250.120', ['dayOfMonth', 'month'], never)
    refuses({ year: '2026' }, '100.250.120', ['year'], never)
    refuses({ expression: '0 0 0 31 2,4,6,9,11 ?' }, '100.250.120', ['expression'], never)
    // 29 February in years without one.
    const { expression } = { expression: '0 0 0 29 2 ? 2027,2029-2031' }
    refuses({ expression }, '100.250.120', ['expression'], never)
    const nowBusiness = new Date('2099-12-31T23:59:59Z')
    refuses({ second: '*' }, '100.250.120', ['year'], never, { nowBusiness })
  })

  test('a job without a run between its dates is refused', () => {
    const fields = { endDate: '2026-12-31 23:59:59' }
    refuses(fields, '100.250.120', ['endDate'], /first run would be at 2027-01-01T00:00:00Z/)
    refuses(
      { startDate: '2099-01-02 00:00:00' },
      '100.250.120',
      ['startDate'],
      /nothing runs after/,
    )
    refuses(
      { startDate: '9999-12-31 23:59:59' },
      '100.250.120',
      ['startDate'],
      /nothing runs after/,
    )
    const both = { startDate: '2027-02-01 00:00:00', endDate: '2027-12-31 00:00:00' }
    refuses(both, '100.250.120', ['endDate'], /2028-01-01T00:00:00Z/)
  })

  test('the dates of a job are inclusive', () => {
    const only = '2027-01-01 00:00:00'
    const plan = read({ startDate: only, endDate: only })
    assert.deepEqual(isos(upcoming(plan, now, 5)), ['2027-01-01T00:00:00Z'])
    const daily = { dayOfMonth: '*', month: '*' }
    const last = read({ ...daily, endDate: '2026-11-23 00:00:00' })
    assert.equal(upcoming(last, now, 5).length, 2)
  })
})

describe('dates in the zone of the channel', () => {
  const daily = { hour: '9', dayOfMonth: '*', month: '*' }

  test('dates are wall time, including summer time', () => {
    const dates = { startDate: '2027-03-27 09:00:00', endDate: '2027-03-28 09:00:00' }
    const plan = read({ ...daily, ...dates }, { zone: 'Europe/Berlin' })
    assert.deepEqual(isos(upcoming(plan, now, 5)), ['2027-03-27T08:00:00Z', '2027-03-28T07:00:00Z'])
  })

  test('milliseconds are an instant in every zone, and parts of a second do not count', () => {
    const first = Date.parse('2027-03-27T08:00:00Z')
    const dates = { startDate: `${first - 1}`, endDate: `${first + 86_400_000 - 1}` }
    const plan = read({ ...daily, ...dates }, { zone: 'Europe/Berlin' })
    assert.deepEqual(isos(upcoming(plan, now, 5)), ['2027-03-27T08:00:00Z', '2027-03-28T07:00:00Z'])
    const { startDate, endDate } = plan.fields
    assert.deepEqual([startDate, endDate], [first, first + 86_399_000])
  })

  test('a skipped date means the first instant after the gap, a repeated one the first of the two', () => {
    const at = (startDate: string, zone: string) =>
      iso(read({ ...daily, startDate }, { zone }).startAt)
    assert.equal(at('2027-03-28 02:30:00', 'Europe/Berlin'), '2027-03-28T01:00:00Z')
    assert.equal(at('2027-10-31 02:30:00', 'Europe/Berlin'), '2027-10-31T00:30:00Z')
    assert.equal(at('2027-03-14 02:30:00', 'America/New_York'), '2027-03-14T07:00:00Z')
    assert.equal(at('2027-11-07 01:30:00', 'America/New_York'), '2027-11-07T05:30:00Z')
    // Half an hour: 02:00 becomes 02:30 in October, 02:00 becomes 01:30 in April.
    assert.equal(at('2027-10-03 02:15:00', 'Australia/Lord_Howe'), '2027-10-02T15:30:00Z')
    assert.equal(at('2027-04-04 01:45:00', 'Australia/Lord_Howe'), '2027-04-03T14:45:00Z')
    assert.equal(at('2011-12-30 12:00:00', 'Pacific/Apia'), '2011-12-30T10:00:00Z')
  })

  test('a start in the past charges no past instant', () => {
    for (const startDate of ['2020-01-01 00:00:00', '1900-01-01 00:00:00', '0001-01-01 00:00:00']) {
      for (const zone of ['UTC', 'Europe/Amsterdam']) {
        const plan = read({ ...daily, startDate }, { zone })
        assert.ok(plan.firstAt > now, startDate)
        assert.ok(plan.firstAt.getTime() - now.getTime() < 86_400_000)
      }
    }
    // The current instant does not count as future.
    const atNine = new Date('2026-11-21T09:00:00Z')
    assert.equal(iso(read(daily, { nowBusiness: atNine }).firstAt), '2026-11-22T09:00:00Z')
  })

  test('an end in the far future counts as none', () => {
    const plan = read({ ...daily, endDate: '9999-12-31 23:59:59' })
    assert.equal(upcoming(plan, new Date('2099-12-25T00:00:00Z'), 50).length, 7)
  })

  test('an end in the past or before the start is refused', () => {
    const code = '200.300.404'
    refuses({ endDate: '2026-11-21 15:59:59' }, code, ['endDate'], /in the past.*UTC/)
    // 16:59:59 in Berlin is 15:59:59 UTC, a second ago.
    const rules = { zone: 'Europe/Berlin' }
    refuses({ endDate: '2026-11-21 16:59:59' }, code, ['endDate'], /in the past/, rules)
    const dates = { startDate: '2028-01-01 00:00:01', endDate: '2028-01-01 00:00:00' }
    refuses(dates, code, ['endDate'], /before job\.startDate/)
    // An end at this instant has not passed, although nothing follows.
    refuses({ endDate: '2026-11-21 16:00:00' }, '100.250.120', ['endDate'], /nothing runs up to/)
  })

  test('a malformed date is refused', () => {
    for (const text of [
      '2027-02-29 00:00:00',
      '2027-04-31 00:00:00',
      '2027-01-01 24:00:00',
      '2027-01-01 00:00:60',
      '2027-01-01T00:00:00',
      '2027-01-01',
      '2027-1-1 00:00:00',
      '+27-01-01 00:00:00',
      '2027-01-01 00:00:0Z',
      'x'.repeat(19),
    ]) {
      refuses({ startDate: text }, '200.300.404', ['startDate'], /yyyy-MM-dd HH:mm:ss/)
      refuses({ endDate: text }, '200.300.404', ['endDate'], /yyyy-MM-dd HH:mm:ss/)
    }
  })

  test('an unknown zone of the channel is not an error of the request', () => {
    assert.throws(() => read({}, { zone: 'Europe/Atlantis' }), RangeError)
  })
})

describe('notice and duration', () => {
  const notice = { noticeUnit: 'DAY', noticeNumber: '3' }
  const duration = { durationUnit: 'MONTH', durationNumber: '1' }

  test('notice and duration are read', () => {
    assert.deepEqual(read({}).notice, null)
    assert.deepEqual(read({}).duration, null)
    assert.deepEqual(read(notice).notice, { unit: 'DAY', number: 3, callable: 'ANYTIME' })
    assert.deepEqual(read(duration).notice, null)
    assert.deepEqual(read(duration).duration, { unit: 'MONTH', number: 1 })
    const both = read({ ...notice, ...duration, noticeCallable: 'DURATION_END' })
    assert.deepEqual(both.notice, { unit: 'DAY', number: 3, callable: 'DURATION_END' })
    assert.equal(read({ ...notice, noticeNumber: '0' }).notice?.number, 0)
    assert.ok(read({ ...notice, noticeNumber: '9'.repeat(16) }).notice)
    for (const durationUnit of periodUnits) assert.ok(read({ durationUnit, durationNumber: '1' }))
  })

  test('half a pair, an end without a period, and a period of no length are refused', () => {
    const [of, ofNotice] = ['100.250.106', '100.250.107']
    refuses({ durationUnit: 'DAY' }, of, ['durationNumber'], /is missing/)
    refuses({ durationNumber: '1' }, of, ['durationUnit'], /is missing/)
    refuses({ noticeUnit: 'DAY' }, ofNotice, ['noticeNumber'], /is missing/)
    refuses({ noticeNumber: '0' }, ofNotice, ['noticeUnit'], /is missing/)
    for (const noticeCallable of ['ANYTIME', 'DURATION_END']) {
      refuses({ noticeCallable }, ofNotice, ['noticeUnit', 'noticeNumber'], /is missing/)
      const all = { noticeCallable, ...duration }
      refuses(all, ofNotice, ['noticeUnit', 'noticeNumber'], /is missing/)
    }
    const withoutPeriod = { ...notice, noticeCallable: 'DURATION_END' }
    refuses(withoutPeriod, of, ['durationUnit', 'durationNumber'], /notice to the end of a period/)
    refuses({ ...duration, durationNumber: '0' }, of, ['durationNumber'], /1 or more/)
    refuses({ ...duration, durationUnit: 'DAYS' }, of, ['durationUnit'], /one of YEAR, MONTH/)
    refuses({ ...notice, noticeUnit: 'day' }, ofNotice, ['noticeUnit'], /one of YEAR, MONTH/)
    refuses({ ...notice, noticeCallable: 'NOW' }, ofNotice, ['noticeCallable'], /ANYTIME/)
    refuses({ ...notice, noticeNumber: '1.5' }, '200.300.404', ['noticeNumber'], /a number/)
  })

  test('the table has the same conditions, so a request is refused early', () => {
    const group = groupsByName.get('job')!
    const table = conditionsOf({ fields: group.fields, conditions: group.conditions } as Operation)
    const options = {
      noticeUnit: [undefined, 'DAY'],
      noticeNumber: [undefined, '1'],
      noticeCallable: [undefined, 'ANYTIME', 'DURATION_END'],
      durationUnit: [undefined, 'MONTH'],
      durationNumber: [undefined, '1'],
    }
    let jobs: Record<string, string>[] = [{}]
    for (const [name, values] of Object.entries(options)) {
      jobs = jobs.flatMap((job) =>
        values.map((value) => (value === undefined ? job : { ...job, [name]: value })),
      )
    }
    assert.equal(jobs.length, 48)
    let refused = 0
    for (const job of jobs) {
      const errors = new ParameterErrors()
      table({ job }, errors)
      if (errors.isEmpty) assert.ok(read(job))
      else {
        refused++
        const [early, late] = [errors.refusal(), refusalOf(job)]
        assert.equal(early.code, late.code, JSON.stringify(job))
        const names = (error: GatewayError) => error.parameterErrors.map(({ name }) => name).sort()
        assert.deepEqual(names(early), names(late), JSON.stringify(job))
      }
    }
    // No notice, or any callable except DURATION_END, with or without a period; DURATION_END with
    // one.
    assert.equal(refused, 48 - (2 + 4 + 1))
  })
})

describe('arbitrary jobs', () => {
  test('any job is read, or refused with a job code or 200.300.404 and a field', () => {
    const names = [...groupsByName.get('job')!.fields].map(({ name }) => name.slice('job.'.length))
    const some = fc.constantFrom('1', '?', '*', '0', 'DAY', '2027-05-05 05:05:05', 'ANYTIME', '*/7')
    const job = fc.dictionary(fc.constantFrom(...names), fc.oneof(some, some, hostile), {
      maxKeys: 6,
    })
    const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Apia')
    const minimum = fc.constantFrom(0, 2_000, 3_600_000, 40 * 86_400_000)
    let [reads, refusals] = [0, 0]
    fc.assert(
      fc.property(job, zone, minimum, (fields, zone, minimumIntervalMs) => {
        try {
          const plan = readJob(fields, { zone, nowBusiness: now, minimumIntervalMs })
          assert.ok(plan.firstAt > now)
          assert.equal(iso(upcoming(openPlan(plan), now, 1)[0] ?? null), iso(plan.firstAt))
          reads++
        } catch (thrown) {
          if (!(thrown instanceof GatewayError)) throw thrown
          assert.match(thrown.code, /^(100\.250\.1(06|07|2[0-5])|200\.300\.404)$/)
          assert.ok(thrown.parameterErrors.length > 0)
          refusals++
        }
      }),
      { seed: 20_261_121, numRuns: 2_000 },
    )
    assert.ok(reads > 100 && refusals > 800, `${reads} ${refusals}`)
  })
})
