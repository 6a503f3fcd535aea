import { AN, type Condition, dateTime, echoed, either, type FieldOptions, group, integer, N, none, O, oneOf, type Row, reference, stored } from '../table.ts'

const unit = oneOf('YEAR', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MINUTE', 'SECOND')
const durationWrong = '100.250.106'
const noticeWrong = '100.250.107'

/**
 * The meaning of an absent value. The value is not filled in, because the engine distinguishes
 * absent fields.
 */
const otherwise = (value: string): FieldOptions => ({ default: value })

/** Thirteen digits: fewer or more are another way to write a date, such as 202603010600. */
const milliseconds = integer(1_000_000_000_000, 4_102_444_800_000)
const moment = either(dateTime, milliseconds)
const shown: FieldOptions = {
  because: 'Milliseconds are also allowed, because responses have them and clients send back what they read.',
}

const rows: readonly Row[] = [
  // name            format                            need direction class meaning
  ['name',           AN(64),                           O,   echoed, none, 'Label of the schedule, for people.'],
  ['year',           AN(64),                           O,   echoed, none, 'Years, 1970 to 2099.', { ...otherwise('*'), ...reference }],
  ['month',          AN(64),                           O,   echoed, none, 'Months, 1 to 12 or JAN to DEC.', { ...otherwise('1'), ...reference }],
  ['dayOfMonth',     AN(64),                           O,   echoed, none, 'Days of the month, 1 to 31; also ?, L, W.', { ...otherwise('1'), ...reference }],
  ['dayOfWeek',      AN(64),                           O,   echoed, none, 'Days of the week, 1 (Sunday) to 7 or SUN to SAT; also ?, L, #.', { ...otherwise('1'), ...reference }],
  ['hour',           AN(64),                           O,   echoed, none, 'Hours, 0 to 23.', { ...otherwise('0'), ...reference }],
  ['minute',         AN(64),                           O,   echoed, none, 'Minutes, 0 to 59.', { ...otherwise('0'), ...reference }],
  ['second',         AN(64),                           O,   echoed, none, 'Seconds, 0 to 59.', { ...otherwise('0'), ...reference }],
  ['startDate',      moment,                           O,   stored, none, "First possible run, in the schedule's time zone; or in milliseconds since 1970 UTC, as responses show it.", shown],
  ['endDate',        moment,                           O,   stored, none, "Last possible run, in the schedule's time zone; or in milliseconds since 1970 UTC, as responses show it.", shown],
  ['noticeUnit',     unit,                             O,   echoed, none, 'Unit of the notice of cancellation.', { code: noticeWrong }],
  ['noticeNumber',   N(16),                            O,   echoed, none, 'Number of those units of notice before the end of a period.', reference],
  ['noticeCallable', oneOf('ANYTIME', 'DURATION_END'), O,   echoed, none, 'Whether notice counts from now or towards the end of a period.', { code: noticeWrong }],
  ['durationUnit',   unit,                             O,   echoed, none, 'Unit of the period.', { code: durationWrong }],
  ['durationNumber', N(16),                            O,   echoed, none, 'Number of those units in a period.', reference],
  ['expression',     AN(256),                          O,   echoed, none, 'Second, minute, hour, day of month, month, day of week and an optional year in one string. Replaces those fields.', reference],
]

const pair = (one: string, other: string, code: string): readonly Condition[] =>
  [[one, other], [other, one]].map(([when, need]) => ({
    rule: 'requires',
    when: [`job.${when}`],
    need: [`job.${need}`],
    message: `job.${when} needs job.${need}`,
    code,
  }))

/** The runs of a schedule and its cancellation. The cron fields have rules of their own. */
export const job = group('job', 'Schedule', rows, [
  ...pair('noticeUnit', 'noticeNumber', noticeWrong),
  ...pair('durationUnit', 'durationNumber', durationWrong),
  {
    rule: 'requires',
    when: ['job.noticeCallable'],
    need: ['job.noticeUnit', 'job.noticeNumber'],
    message: 'job.noticeCallable needs job.noticeUnit and job.noticeNumber',
    code: noticeWrong,
  },
  {
    // A callable without its notice gets the result code of the notice.
    rule: 'requires',
    when: ['job.noticeNumber'],
    onlyIf: { field: 'job.noticeCallable', is: ['DURATION_END'] },
    need: ['job.durationUnit', 'job.durationNumber'],
    message: 'notice to the end of a period (DURATION_END) needs job.durationUnit and job.durationNumber',
    code: durationWrong,
  },
])
