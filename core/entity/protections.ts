/**
 * Settings of an entity that protect shoppers, merchants and their data. Where the installation asks for
 * two people, a change that loosens one of them needs the second person.
 */
import { limits } from '@tollgate/schemas'
import { dimensions, settingOf, type Thresholds } from './card-testing-settings.ts'

/** What the installation does where no entity sets a value. */
export type Usual = { readonly environment: 'test' | 'live'; readonly cardTesting: Thresholds }

type Settings = Readonly<Record<string, unknown>>
/** Whether a value is looser than the one before it. An undefined value is set by no entity. */
type Looser = (after: unknown, before: unknown, usual: Usual) => boolean

const byStrictness =
  (of: (value: unknown, usual: Usual) => number): Looser =>
  (after, before, usual) =>
    of(after, usual) < of(before, usual)

const strictIs = (strict: unknown) => byStrictness((value) => (value === strict ? 1 : 0))
const looseIs = (loose: unknown) => byStrictness((value) => (value === loose ? 0 : 1))

/** The higher the looser, and 0 is no limit. */
const limit = (usually: (usual: Usual) => number) =>
  byStrictness((value, usual) => {
    const most = typeof value === 'number' ? value : usually(usual)
    return most === 0 ? Number.NEGATIVE_INFINITY : -most
  })

const atLeast = (usually: (usual: Usual) => number) =>
  byStrictness((value, usual) => (typeof value === 'number' ? value : usually(usual)))

/**
 * Without a list, any page may show the widget, but shoppers are led only to pages of a list, and only these are called.
 * So a first list loosens, too, unless it is empty.
 */
const onlyThese: Looser = (after, before) => {
  const listed: readonly unknown[] = Array.isArray(before) ? before : []
  return Array.isArray(after)
    ? after.some((origin) => !listed.includes(origin))
    : Array.isArray(before)
}

const onLive = (value: number) => (usual: Usual) => (usual.environment === 'live' ? value : 0)

export const protections: Readonly<Record<string, Looser>> = {
  threeDSecure: strictIs('on'),
  threeDSecureUnavailable: looseIs('continue'),
  cvvRequired: strictIs(true),
  oneClickCvv: looseIs(false),
  checkoutTries: limit(() => limits.checkoutTries.usual),
  widgetOrigins: onlyThese,
  showFingerprint: looseIs(true),
  distinctNumbers: limit(onLive(limits.distinctNumbers)),
  distinctNumbersHours: atLeast(() => limits.distinctNumbersMs / 3_600_000),
  scheduleIntervalSeconds: atLeast(onLive(limits.scheduleIntervalLiveMs / 1000)),
  ...Object.fromEntries(
    dimensions.map((one) => [settingOf[one], limit(({ cardTesting }) => cardTesting[one])]),
  ),
}

/** The settings that protect less after a change; both are the values in force, also those from above. */
export const loosened = (before: Settings, after: Settings, usual: Usual): string[] =>
  Object.entries(protections)
    .filter(([name, isLooser]) => isLooser(after[name], before[name], usual))
    .map(([name]) => name)
