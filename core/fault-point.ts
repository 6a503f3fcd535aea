/** Every boundary at which losing the process or the connection must not lose or double money. */
export type FaultPoint =
  | 'before-T1'
  | 'after-T1'
  | 'before-send'
  | 'after-send'
  | 'before-T2'
  | 'after-T2'
  | 'before-sweep'
  | 'after-lease'
  | 'before-enquiry'
  | 'after-enquiry'
  | 'before-resend'
  | 'before-authentication'
  | 'authenticated'
  | 'before-going-on'
  | 'gone-on'
  | 'before-late'
  | 'after-late'
  | 'before-fact'
  | 'after-fact'
  | 'in-migration'
  | 'idempotency-digested'
  | 'before-fire'
  | 'in-fire'
  | 'after-fire'
  | 'after-clock-step'
  | 'before-event'
  | 'after-event'
  | 'key-announced'
  | 'key-promoted'
  | 'rows-opened'
  | 'rows-resealed'
  | 'key-fenced'
  | 'key-proven'
  | 'key-retired'
  | 'key-probed'
  | 'key-rewrapped'
  | 'audit-linked'
  | 'settlement-stored'
  | 'settlement-leased'
  | 'settlement-copied'
  | 'settlement-read'
  | 'settlement-staged'
  | 'settlement-refused'
  | 'settlement-fetched'
  | 'settlement-done'
  | 'before-settlement-effect'
  | 'after-settlement-effect'
  | 'settlement-window'
  | 'settlement-page'
  | 'settlement-matched'
  | 'settlement-recorded'
  | 'settlement-decided'
  | 'settlement-day-entered'
  | 'settlement-day-ended'
  | 'report-drafted'
  | 'report-part'
  | 'report-written'
  | 'report-published'
  | 'report-renaming'
  | 'report-delivered'

let handler: ((point: FaultPoint, ref: string) => void | Promise<void>) | undefined

/** Installs the handler of fault points, for fault runs only; undefined removes it. */
export function onFaultPoint(next: typeof handler): void {
  handler = next
}

/** Marks a boundary. Costs one comparison when no fault run is on. */
export function faultPoint(point: FaultPoint, ref: string): void | Promise<void> {
  return handler === undefined ? undefined : handler(point, ref)
}
