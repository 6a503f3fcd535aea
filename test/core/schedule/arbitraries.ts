/** Zones, moments and lengths for property tests. */
import fc from 'fast-check'
import { mostUnits, periodUnits } from '../../../core/schedule/plan.ts'

/** Zones with unusual clock changes. */
export const zone = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo', // Midnight was skipped when summer time began.
  'Africa/Casablanca', // Four changes a year.
  'Australia/Lord_Howe', // Half an hour.
  'Antarctica/Troll', // Two hours.
  'Pacific/Apia', // Skipped 30 December 2011.
  'Pacific/Kwajalein', // Skipped 21 August 1993.
)

/** Days of clock changes in those zones, ends of months and leap days. */
const unusual = [
  '1993-08-21',
  '2011-12-30',
  '2012-02-29',
  '2014-10-19',
  '2027-01-31',
  '2027-03-14',
  '2027-03-28',
  '2027-04-04',
  '2027-10-03',
  '2027-10-31',
  '2027-11-07',
  '2028-02-29',
].map((day) => Date.parse(day) / 1000)

/** On a full second, from 1975 to 2095; often around a clock change. */
export const moment: fc.Arbitrary<Date> = fc
  .oneof(
    fc.integer({ min: Date.UTC(1975) / 1000, max: Date.UTC(2095) / 1000 }),
    fc
      .tuple(fc.constantFrom(...unusual), fc.integer({ min: -86_400, max: 2 * 86_400 }))
      .map(([day, away]) => day + away),
  )
  .map((seconds) => new Date(seconds * 1000))

export const momentWithMs: fc.Arbitrary<Date> = fc
  .tuple(moment, fc.constantFrom(0, 1, 500, 999))
  .map(([at, ms]) => new Date(at.getTime() + ms))

export const unit = fc.constantFrom(...periodUnits)

/** Mostly of a common size, sometimes beyond every calendar. */
export const number = (min: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min, max: 40 }) },
    { weight: 2, arbitrary: fc.integer({ min, max: 100_000 }) },
    { weight: 1, arbitrary: fc.constantFrom(1_000_000_000, mostUnits) },
  )
