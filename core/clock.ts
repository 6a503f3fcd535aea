/**
 * Three kinds of time, never mixed. `Elapsed` is monotonic, for deadlines, caches and throttling.
 * `Real` is the wall clock, for ids, tokens and logs (leases use Postgres' own clock). `Business`
 * is the time of merchants: creation times, expiries, schedules; a test clock moves it.
 */
export type Clock = {
  /** Monotonic milliseconds. */
  elapsedMs(): number
  /** Wall clock, milliseconds since 1970. */
  realMs(): number
  /** Business time of one entity. */
  businessAt(entityId: string): Date
}

export const systemClock: Clock = {
  elapsedMs: () => performance.now(),
  realMs: () => Date.now(),
  businessAt: () => new Date(),
}

/** `yyyy-MM-dd HH:mm:ss+0000` in UTC. */
export function wireTimestamp(moment: Date): string {
  return `${moment.toISOString().slice(0, 19).replace('T', ' ')}+0000`
}
