import { limits } from '@tollgate/schemas'
import { suggest, vocabularyOf } from '../near-name.ts'
import { settingOf as cardTestingSettings } from './card-testing-settings.ts'

/** A setting of an entity. A channel's own value takes precedence over those of its ancestors. */
type Setting = {
  readonly takes: (value: unknown) => boolean
  /** A description of valid values. */
  readonly hint: string
}

const oneOf = (...values: readonly (string | boolean)[]): Setting => ({
  takes: (value) => values.includes(value as string),
  hint: `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`,
})

const whole = (min: number, max: number): Setting => ({
  takes: (value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
  hint: `a whole number from ${min} to ${max}`,
})

const zone: Setting = {
  takes: (value) => typeof value === 'string' && isZone(value),
  hint: 'an IANA time zone, such as Europe/Berlin',
}

const mostPauses = 20
const pauses: Setting = {
  takes: (value) =>
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= mostPauses &&
    value.every((hours) => typeof hours === 'number' && hours > 0 && hours <= 24 * 365),
  hint: `a list of 1 to ${mostPauses} numbers of hours, such as [24, 72]`,
}

const mostOrigins = 50
const origins: Setting = {
  takes: (value) =>
    Array.isArray(value) &&
    value.length <= mostOrigins &&
    value.every((one) => typeof one === 'string' && isOrigin(one)),
  hint: `a list of at most ${mostOrigins} origins, such as ["https://shop.example"]; [] is no page at all`,
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text
}

const known: Readonly<Record<string, Setting>> = {
  /** Refuse cards without a security code while the shopper is present. */
  cvvRequired: oneOf(true, false),
  /** Failed tries after which a checkout is closed; 10 unless set. */
  checkoutTries: whole(1, limits.checkoutTries.most),
  /** False: the widget takes a stored card without its security code. */
  oneClickCvv: oneOf(true, false),
  /** Origins of the pages that may show the widget; any https page unless set. */
  widgetOrigins: origins,
  /** Keep approvals for less than the requested amount, instead of reversing them. */
  partialApproval: oneOf(true, false),
  /**
   * Show the fingerprint of registrations, which is the same for the same account of one merchant. Any
   * token then shows which registrations hold one account. Default: false.
   */
  showFingerprint: oneOf(true, false),
  /**
   * Different card numbers with the same first six and last four digits that one token, and one channel,
   * may send within a number of hours. 0: no limit. Default: 20 in 24 hours on live, no limit in test.
   */
  distinctNumbers: whole(0, 1000),
  distinctNumbersHours: whole(1, 24 * 31),
  /** Authenticate shoppers who pay by card (3-D Secure 2) before acquirers that take the result; off unless set. */
  threeDSecure: oneOf('off', 'on'),
  /**
   * A payment whose authentication is unavailable (status U): declined with 100.390.112, or sent on
   * without values, at the merchant's risk. Declined unless set.
   */
  threeDSecureUnavailable: oneOf('decline', 'continue'),
  /** Time zone of schedules. Default: UTC. */
  timeZone: zone,
  /** Minimum time between two charges of one schedule. Default: an hour on live. */
  scheduleIntervalSeconds: whole(0, 366 * 86_400),
  /** How many missed due times of one schedule are caught up, and their maximum age. */
  missedExecutions: whole(0, 1000),
  missedExecutionHours: whole(0, 24 * 366),
  /** How often a declined charge of a schedule is repeated, if the decline may pass. Default: never. */
  resubmissions: whole(0, 20),
  /** Pauses before the first repeat, the second and so on; the last one repeats. Default: a day. */
  resubmissionHours: pauses,
  /** Declines from which further attempts are refused; 0: never. Default: the setting of the installation. */
  ...Object.fromEntries(
    Object.values(cardTestingSettings).map((name) => [name, whole(0, 1_000_000)]),
  ),
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    // Intl also accepts offsets such as +02:00, which are not zones.
    return /^[A-Za-z]/.test(name)
  } catch {
    return false
  }
}

/**
 * @param isChange a null takes the setting away, so that the one above or the default holds again.
 * @throws Error naming an unknown setting or a wrong value.
 */
export function checkEntitySettings(
  settings: Readonly<Record<string, unknown>>,
  isChange = false,
): void {
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) {
    throw new Error('settings must be an object, such as { cvvRequired: true }')
  }
  for (const [name, value] of Object.entries(settings)) {
    const setting = Object.hasOwn(known, name) ? known[name] : undefined
    if (setting === undefined) {
      const meant = suggest(name, vocabularyOf(Object.keys(known)))
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`
      throw new Error(
        `"${name}" is no setting of an entity${hint} (there are: ${Object.keys(known).join(', ')})`,
      )
    }
    if (setting.takes(value) || (isChange && value === null)) continue
    const orNone = isChange ? '; null takes it away' : ''
    throw new Error(`the setting ${name} must be ${setting.hint}${orNone}`)
  }
}
