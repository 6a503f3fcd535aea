/** The security log: alarms that need immediate attention. */
import type { Json, Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'
import { keyOf, mac, newKeyBytes } from '../crypto/cipher.ts'

export type AlarmKind =
  /** An attacker tests card numbers. */
  | 'card-testing'
  /** Too many failed logins. */
  | 'lockout'
  /** A message for an account without proof of its acquirer. */
  | 'forged-event'
  /** Connections were refused: of an address with too many, or because the process has no place. */
  | 'connections'
  /** A token requests many unknown ids. */
  | 'guessed-id'
  /** A token or an operator requested an operation beyond their rights. */
  | 'rights-refused'
  /** The end of the audit trail's chain was changed: no row gets a link any more. */
  | 'audit-trail'
  /** An error that no other handler caught. */
  | 'last-resort'

/** Never a secret or personal data, since security logs have many readers. */
export type AlarmDetail = {
  /** The token, account or address behind the alarm. Distinguishes alarms of one kind. */
  readonly subject: string
} & Readonly<Record<string, Json>>

export type Alarm = (kind: AlarmKind, detail: AlarmDetail) => void

type Window = { readonly sinceMs: number; held: number }
type OfKind = {
  readonly subjects: Map<string, Window>
  sinceMs: number
  lines: number
  /** The number of alarms not logged, beyond the limit of the kind. */
  untold: number
}

/** The log, with the mark of the security log on each line. */
export function marked(log: Log): Log {
  return {
    info: (fields, message) => log.info({ security: true, ...fields }, message),
    warn: (fields, message) => log.warn({ security: true, ...fields }, message),
  }
}

/**
 * Logs an alarm of one kind about one subject at most once a minute, with its count, and limits
 * each kind. A repeating attacker thus neither fills a disk nor hides another alarm. Suppressed
 * alarms are logged at the end of the minute, even when none follows.
 */
export function alarms(log: Log, clock: Clock): Alarm {
  const kinds = new Map<AlarmKind, OfKind>()
  let isTimed = false
  const renew = (kind: AlarmKind, of: OfKind, nowMs: number): void => {
    if (nowMs - of.sinceMs < limits.alarmMs) return
    if (of.untold > 0) {
      log.warn({ alarm: kind, untold: of.untold }, 'more alarms than are told')
    }
    Object.assign(of, { sinceMs: nowMs, lines: 0, untold: 0 })
    for (const [subject, { sinceMs, held }] of of.subjects) {
      if (held === 0 && nowMs - sinceMs >= limits.alarmMs) of.subjects.delete(subject)
    }
  }
  const tellHeld = (): void => {
    isTimed = false
    const nowMs = clock.elapsedMs()
    let isAnyLeft = false
    for (const [kind, of] of kinds) {
      renew(kind, of, nowMs)
      for (const [subject, { sinceMs, held }] of of.subjects) {
        if (held > 0 && nowMs - sinceMs >= limits.alarmMs) {
          log.warn({ alarm: kind, subject, repeated: held }, `alarm: ${kind}, until now`)
          of.subjects.delete(subject)
        } else if (held > 0) isAnyLeft = true
      }
      if (of.untold > 0) isAnyLeft = true
    }
    if (isAnyLeft) later()
  }
  const later = (): void => {
    if (isTimed) return
    isTimed = true
    setTimeout(tellHeld, limits.alarmMs).unref()
  }
  return (kind, detail) => {
    const nowMs = clock.elapsedMs()
    const of = kinds.get(kind) ?? { subjects: new Map(), sinceMs: nowMs, lines: 0, untold: 0 }
    kinds.set(kind, of)
    renew(kind, of, nowMs)
    const known = of.subjects.get(detail.subject)
    if (known !== undefined && nowMs - known.sinceMs < limits.alarmMs) {
      known.held += 1
      later()
      return
    }
    if (of.lines >= limits.alarmsPerKind) {
      of.untold += 1
      later()
      return
    }
    of.lines += 1
    of.subjects.delete(detail.subject)
    // The oldest subjects make room beyond the limit.
    if (of.subjects.size >= 10 * limits.alarmsPerKind) {
      of.subjects.delete(of.subjects.keys().next().value!)
    }
    of.subjects.set(detail.subject, { sinceMs: nowMs, held: 0 })
    const repeated = known === undefined || known.held === 0 ? {} : { repeated: known.held }
    log.warn({ alarm: kind, ...detail, ...repeated }, `alarm: ${kind}`)
  }
}

/**
 * Counts unknown ids per token. A repeat of the same id, as clients send, is no guess. Kept as
 * keyed hashes, since a path may contain any text, card numbers included.
 */
export class GuessedIds {
  readonly #alarm: Alarm
  readonly #clock: Clock
  /** The key exists in this process only. */
  readonly #key = keyOf(newKeyBytes())
  readonly #tokens = new Map<string, { readonly sinceMs: number; readonly ids: Set<string> }>()

  constructor(alarm: Alarm, clock: Clock) {
    this.#alarm = alarm
    this.#clock = clock
  }

  /** @param token The token's id. */
  missed(token: string, id: string, address: string | undefined): void {
    const nowMs = this.#clock.elapsedMs()
    let of = this.#tokens.get(token)
    if (of === undefined || nowMs - of.sinceMs >= limits.alarmMs) {
      this.#tokens.delete(token)
      if (this.#tokens.size >= limits.cachedTokens) {
        this.#tokens.delete(this.#tokens.keys().next().value!)
      }
      of = { sinceMs: nowMs, ids: new Set() }
      this.#tokens.set(token, of)
    }
    if (of.ids.size < limits.guessedIds) of.ids.add(mac(this.#key, id).toString('base64', 0, 12))
    if (of.ids.size < limits.guessedIds) return
    const where = address === undefined ? {} : { address }
    this.#alarm('guessed-id', { subject: token, token, ids: of.ids.size, ...where })
  }
}
