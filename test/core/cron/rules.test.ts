import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseCron, parseCronFields } from '@tollgate/core/cron'

/** The first runs after an instant, as text in UTC. */
function runs(expression: string, after: string, count: number, zone?: string): string[] {
  const cron = parseCron(expression)
  const found: string[] = []
  for (let at = cron.next(new Date(after), zone); at !== null; at = cron.next(at, zone)) {
    found.push(at.toISOString().replace('.000Z', 'Z'))
    if (found.length === count) break
  }
  return found
}

/** Days of one year on which a schedule runs at midnight, as month-day. */
const daysOf = (year: number, days: string): string[] =>
  runs(`0 0 0 ${days} ${year}`, `${year - 1}-12-31T23:59:59Z`, 366).map((text) => text.slice(5, 10))

/** Values of a field over one cycle of the next larger field. */
const minutes = (field: string): number[] =>
  runs(`0 ${field} 12 1 1 ? 2027`, '2027-01-01T00:00:00Z', 60).map((text) =>
    Number(text.slice(14, 16)),
  )
const hours = (field: string): number[] =>
  runs(`0 0 ${field} 1 1 ? 2027`, '2026-12-31T23:59:59Z', 24).map((text) =>
    Number(text.slice(11, 13)),
  )
const months = (field: string): number[] =>
  runs(`0 0 0 1 ${field} ? 2027`, '2026-12-31T23:59:59Z', 12).map((text) =>
    Number(text.slice(5, 7)),
  )
const daysOfMay = (field: string): number[] =>
  runs(`0 0 0 ${field} 5 ? 2027`, '2027-04-30T00:00:00Z', 31).map((text) =>
    Number(text.slice(8, 10)),
  )
/** 2027-08-01 is a Sunday, so days of the week and of the month have the same numbers. */
const week = (field: string): number[] =>
  runs(`0 0 0 ? 8 ${field} 2027`, '2027-07-31T23:59:59Z', 31)
    .map((text) => Number(text.slice(8, 10)))
    .filter((day) => day <= 7)
const years = (field: string): number[] =>
  runs(`0 0 0 1 1 ? ${field}`, '1969-12-31T23:59:59Z', 130).map((text) => Number(text.slice(0, 4)))

describe('lists, ranges and steps', () => {
  test('a list and a range run at the values they name', () => {
    assert.deepEqual(minutes('1,3,5'), [1, 3, 5])
    assert.deepEqual(minutes('5,1-3,2,5'), [1, 2, 3, 5])
    assert.deepEqual(hours('9-12'), [9, 10, 11, 12])
    assert.deepEqual(minutes('08'), [8])
    assert.deepEqual(months('Jan,feb,MAY'), [1, 2, 5])
    assert.deepEqual(week('mon-WED'), [2, 3, 4])
    assert.deepEqual(week('2-Fri'), [2, 3, 4, 5, 6])
  })

  test('a step runs from its start to the end of the unit', () => {
    assert.deepEqual(minutes('0/15'), [0, 15, 30, 45])
    assert.deepEqual(minutes('*/15'), [0, 15, 30, 45])
    assert.deepEqual(minutes('/20'), [0, 20, 40])
    assert.deepEqual(minutes('50/4'), [50, 54, 58])
    assert.deepEqual(minutes('5/59'), [5])
    assert.deepEqual(hours('3/6'), [3, 9, 15, 21])
    assert.deepEqual(hours('5/6'), [5, 11, 17, 23])
    assert.deepEqual(week('MON/2'), [2, 4, 6])
    assert.deepEqual(week('*/3'), [1, 4, 7])
    assert.deepEqual(years('*/40'), [1970, 2010, 2050, 2090])
    assert.deepEqual(years('2095/2'), [2095, 2097, 2099])
  })

  test('only a step over months continues past the end of the unit, until it would meet its start', () => {
    assert.deepEqual(months('4/3'), [1, 4, 7, 10])
    assert.deepEqual(months('APR/3'), [1, 4, 7, 10])
    assert.deepEqual(months('5/5'), [3, 5, 10])
    assert.deepEqual(months('*/3'), [1, 4, 7, 10])
    assert.deepEqual(months('12/12'), [12])
    assert.deepEqual(months('12/1'), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  })

  test('a step over days of the month reaches the 31st only when it starts there', () => {
    assert.deepEqual(daysOfMay('1/5'), [1, 6, 11, 16, 21, 26])
    assert.deepEqual(daysOfMay('*/30'), [1])
    assert.deepEqual(daysOfMay('31/7'), [31])
    assert.deepEqual(daysOfMay('28/1'), [28, 29, 30, 31])
    assert.deepEqual(daysOfMay('1-31/10'), [1, 11, 21, 31])
    assert.deepEqual(daysOfMay('*/10,31'), [1, 11, 21, 31])
  })

  test('a range may wrap, with or without a step', () => {
    assert.deepEqual(week('FRI-MON'), [1, 2, 6, 7])
    assert.deepEqual(hours('22-2'), [0, 1, 2, 22, 23])
    assert.deepEqual(hours('22-4/3'), [1, 4, 22])
    assert.deepEqual(months('NOV-FEB'), [1, 2, 11, 12])
    assert.deepEqual(months('NOV-FEB/2'), [1, 11])
    assert.deepEqual(daysOfMay('30-2'), [1, 2, 30, 31])
    assert.deepEqual(minutes('7-7'), [7])
  })
})

describe('days', () => {
  test('a day that a month lacks is skipped', () => {
    const long = ['01-31', '03-31', '05-31', '07-31', '08-31', '10-31', '12-31']
    assert.deepEqual(daysOf(2027, '31 * ?'), long)
    assert.equal(daysOf(2027, '30 * ?').length, 11)
    assert.deepEqual(daysOf(2027, '29 2,3 ?'), ['03-29'])
    assert.deepEqual(daysOf(2028, '29 2,3 ?'), ['02-29', '03-29'])
    assert.deepEqual(runs('0 0 0 29 2 ?', '2027-01-01T00:00:00Z', 2), [
      '2028-02-29T00:00:00Z',
      '2032-02-29T00:00:00Z',
    ])
    assert.equal(runs('0 0 0 29 2 ?', '1970-01-01T00:00:00Z', 99).length, 32)
    // The year 2000 had a leap day.
    assert.deepEqual(runs('0 0 0 29 2 ?', '1999-01-01T00:00:00Z', 1), ['2000-02-29T00:00:00Z'])
    assert.deepEqual(runs('0 0 0 1 3 ?', '2028-02-29T23:59:59Z', 1), ['2028-03-01T00:00:00Z'])
  })

  test('L is the last day of the month and L-n lies n days before it, never in another month', () => {
    assert.deepEqual(daysOf(2027, 'L 1-4 ?'), ['01-31', '02-28', '03-31', '04-30'])
    assert.deepEqual(daysOf(2028, 'L 2 ?'), ['02-29'])
    assert.deepEqual(daysOf(2027, 'L-3 1,2 ?'), ['01-28', '02-25'])
    assert.deepEqual(daysOf(2027, 'L-30 1,2,4,5 ?'), ['01-01', '05-01'])
    assert.deepEqual(daysOf(2027, 'L-28 2,4 ?'), ['04-02'])
  })

  test('W is the nearest weekday within the month', () => {
    // 15 May 2027 is a Saturday, 15 August a Sunday.
    assert.deepEqual(daysOf(2027, '15W 5,8 ?'), ['05-14', '08-16'])
    // 1 May 2027 is a Saturday, 1 August a Sunday, 31 October a Sunday, 31 July a Saturday.
    assert.deepEqual(daysOf(2027, '1W 5,8 ?'), ['05-03', '08-02'])
    assert.deepEqual(daysOf(2027, '31W 7,10 ?'), ['07-30', '10-29'])
    assert.deepEqual(daysOf(2027, '30W 2,5 ?'), ['05-31'])
    assert.deepEqual(daysOf(2027, 'LW 1,2,7,10 ?'), ['01-29', '02-26', '07-30', '10-29'])
    assert.deepEqual(daysOf(2027, '31w 2,4,6 ?'), [])
  })

  test('L-nW is the weekday nearest to the nth day before the last, within the month', () => {
    // 28 February 2027 is a Sunday, 30 April a Friday, 31 July a Saturday, 28 August a Saturday.
    assert.deepEqual(daysOf(2027, 'L-1W 2,4,7 ?'), ['02-26', '04-29', '07-30'])
    assert.deepEqual(daysOf(2027, 'L-3W 2,4,8 ?'), ['02-25', '04-27', '08-27'])
    // 1 May 2027 is a Saturday, 1 August a Sunday.
    assert.deepEqual(daysOf(2027, 'L-30W 2,5,8 ?'), ['05-03', '08-02'])
  })

  test('L and # select days of the week', () => {
    assert.deepEqual(daysOf(2027, '? 1 6L'), ['01-29'])
    assert.deepEqual(daysOf(2027, '? 1 fril'), ['01-29'])
    assert.deepEqual(daysOf(2027, '? 2 7L'), ['02-27'])
    assert.deepEqual(daysOf(2027, '? 1 L'), ['01-02', '01-09', '01-16', '01-23', '01-30'])
    assert.deepEqual(daysOf(2027, '? 1-3 6#3'), ['01-15', '02-19', '03-19'])
    assert.deepEqual(daysOf(2027, '? * FRI#5'), ['01-29', '04-30', '07-30', '10-29', '12-31'])
    assert.deepEqual(daysOf(2027, '? 2 MON#5'), [])
    assert.deepEqual(daysOf(2032, '? 2 SUN#5'), ['02-29'])
  })
})

describe('the search', () => {
  test('the next run is strictly later, on full seconds', () => {
    const cron = parseCron('30 0 12 * * ?')
    const next = (after: string) => cron.next(new Date(after))?.toISOString()
    assert.equal(next('2027-06-01T12:00:29.999Z'), '2027-06-01T12:00:30.000Z')
    assert.equal(next('2027-06-01T12:00:30.000Z'), '2027-06-02T12:00:30.000Z')
    assert.equal(next('2027-06-01T12:00:30.001Z'), '2027-06-02T12:00:30.000Z')
    assert.equal(next('1969-12-31T23:59:59.999Z'), '1970-01-01T12:00:30.000Z')
  })

  test('a search crosses year ends and stops after the year 2099', () => {
    assert.deepEqual(runs('59 59 23 31 12 ?', '2027-12-31T23:59:58Z', 2), [
      '2027-12-31T23:59:59Z',
      '2028-12-31T23:59:59Z',
    ])
    assert.deepEqual(runs('0 0 0 1 1 ?', '2027-12-31T23:59:59Z', 1), ['2028-01-01T00:00:00Z'])
    assert.deepEqual(runs('* * * * * ?', '2099-12-31T23:59:57Z', 9), [
      '2099-12-31T23:59:58Z',
      '2099-12-31T23:59:59Z',
    ])
    assert.deepEqual(runs('* * * * * ?', '2099-12-31T23:59:57Z', 1, 'America/New_York'), [
      '2099-12-31T23:59:58Z',
    ])
    const newYork = parseCron('* * * * * ?')
    assert.equal(newYork.next(new Date('2100-01-01T04:59:59Z'), 'America/New_York'), null)
  })

  test('a schedule without runs finds nothing', () => {
    const never = ['0 0 0 30 2 ?', '0 0 0 31W 2,4 ?', '0 0 0 29 2 ? 2027', '0 0 0 ? 2 SUN#5 2027']
    for (const expression of never) {
      assert.deepEqual(runs(expression, '1970-01-01T00:00:00Z', 1), [], expression)
      assert.deepEqual(runs(expression, '1970-01-01T00:00:00Z', 1, 'Europe/Berlin'), [], expression)
    }
    assert.deepEqual(runs('0 0 0 1 1 ? 2026', '2026-01-01T00:00:00Z', 1), [])
    assert.deepEqual(runs('0 0 0 1 1 ?', '+275760-09-12T00:00:00Z', 1), [])
    assert.deepEqual(runs('0 0 0 1 1 ?', '-200000-01-01T00:00:00Z', 1, 'Asia/Tokyo'), [
      '1969-12-31T15:00:00Z',
    ])
  })

  test('an invalid date and an unknown zone are refused', () => {
    const cron = parseCron('* * * * * ?')
    const now = new Date('2027-01-01T00:00:00Z')
    assert.throws(() => cron.next(new Date('never')), RangeError)
    for (const zone of ['Europe/Berln', '', '+02:00', '-0500', 'x'.repeat(10_000), '__proto__']) {
      assert.throws(() => cron.next(now, zone), /time zone is unknown.*Europe\/Berlin/, zone)
    }
    assert.equal(cron.next(now, 'europe/berlin')?.getTime(), now.getTime() + 1_000)
  })
})

describe('clock changes', () => {
  test('a skipped time runs once, at the first instant after the gap', () => {
    assert.deepEqual(runs('0 30 2 * * ?', '2027-03-27T12:00:00Z', 2, 'Europe/Berlin'), [
      '2027-03-28T01:00:00Z',
      '2027-03-29T00:30:00Z',
    ])
    assert.deepEqual(runs('0 */20 2,3 * * ?', '2027-03-28T00:00:00Z', 3, 'Europe/Berlin'), [
      '2027-03-28T01:00:00Z',
      '2027-03-28T01:20:00Z',
      '2027-03-28T01:40:00Z',
    ])
    // Midnight was skipped, and in Samoa a whole day.
    assert.deepEqual(runs('0 0 0 * * ?', '2018-11-03T12:00:00Z', 2, 'America/Sao_Paulo'), [
      '2018-11-04T03:00:00Z',
      '2018-11-05T02:00:00Z',
    ])
    assert.deepEqual(runs('0 0 12 * * ?', '2011-12-29T12:00:00Z', 3, 'Pacific/Apia'), [
      '2011-12-29T22:00:00Z',
      '2011-12-30T10:00:00Z',
      '2011-12-30T22:00:00Z',
    ])
  })

  test('a repeated time runs once, at its first occurrence', () => {
    assert.deepEqual(runs('0 30 2 * * ?', '2027-10-30T12:00:00Z', 2, 'Europe/Berlin'), [
      '2027-10-31T00:30:00Z',
      '2027-11-01T01:30:00Z',
    ])
    const halfHours = '0 0/30 * * * ?'
    assert.deepEqual(runs(halfHours, '2027-10-31T00:00:00Z', 3, 'Europe/Berlin'), [
      '2027-10-31T00:30:00Z',
      '2027-10-31T02:00:00Z',
      '2027-10-31T02:30:00Z',
    ])
    // The search starts in the second pass of the hour.
    assert.deepEqual(runs(halfHours, '2027-10-31T01:10:00Z', 1, 'Europe/Berlin'), [
      '2027-10-31T02:00:00Z',
    ])
    // The clock goes back by half an hour.
    assert.deepEqual(runs('0 0/15 1-2 * * ?', '2027-04-03T14:29:00Z', 4, 'Australia/Lord_Howe'), [
      '2027-04-03T14:30:00Z',
      '2027-04-03T14:45:00Z',
      '2027-04-03T15:30:00Z',
      '2027-04-03T15:45:00Z',
    ])
  })
})

describe('fields sent one by one', () => {
  const read = (fields: Parameters<typeof parseCronFields>[0]) => String(parseCronFields(fields))

  test('missing fields take their defaults, and a defaulted day field gives way', () => {
    assert.equal(read({}), '0 0 0 1 1 ? *')
    assert.equal(read({ month: '*', hour: '08' }), '0 0 08 1 * ? *')
    assert.equal(read({ dayOfMonth: '15' }), '0 0 0 15 1 ? *')
    assert.equal(read({ dayOfWeek: 'mon' }), '0 0 0 ? 1 MON *')
    assert.equal(read({ dayOfMonth: '?' }), '0 0 0 ? 1 1 *')
    assert.equal(read({ dayOfWeek: '?' }), '0 0 0 1 1 ? *')
    assert.equal(read({ dayOfMonth: '', dayOfWeek: '', year: '' }), '0 0 0 1 1 ? *')
    assert.equal(read({ dayOfMonth: '', dayOfWeek: '2#1' }), '0 0 0 ? 1 2#1 *')
  })

  test('an expression replaces the single fields', () => {
    assert.equal(read({ hour: '5', expression: '0 0 9 * * ? 2027-2030' }), '0 0 9 * * ? 2027-2030')
    assert.equal(read({ expression: '' }), '0 0 0 1 1 ? *')
    // The check of day fields does not apply beside an expression.
    assert.equal(
      read({ dayOfMonth: '1', dayOfWeek: '1', expression: '0 0 9 ? * 2' }),
      '0 0 9 ? * 2 *',
    )
  })

  test('fields are shown in capitals, with their defaults', () => {
    assert.deepEqual(parseCron('  0 0  9\t? jan-mar friL ').fields, {
      second: '0',
      minute: '0',
      hour: '9',
      dayOfMonth: '?',
      month: 'JAN-MAR',
      dayOfWeek: 'FRIL',
      year: '*',
    })
  })
})
