import { type Entry, type Movement, noSums, rest, type Shift, type Sums } from './entry.ts'
import type { Code } from './reasons.ts'

/** The effect of an approval: on the payer's money, the new entry, and sums and marks of others. */
export type Effect = {
  readonly sums: Sums
  readonly movements: readonly Movement[]
  readonly shifts: readonly Shift[]
  readonly marks: readonly { readonly key: string; readonly change: (entry: Entry) => Entry }[]
}
type Find = (key: string) => Entry | undefined

/** The effect of approving an entry, or the code of the acquirer's refusal. */
export function effectOf(entry: Entry, find: Find, at: number): Effect | Code {
  switch (entry.kind) {
    case 'verify':
    case 'none':
      return effect(entry, [], noSums)
    case 'authorize':
      return entry.replaces ? replace(entry, find, at) : effect(entry, [held(entry, 1n, at)])
    case 'debit':
    case 'credit':
      return effect(entry, [charged(entry, entry.kind === 'debit' ? 1n : -1n, at)])
    case 'capture':
      return capture(entry, find, at)
    case 'refund':
      return refund(entry, find, at)
    case 'reverse':
      return reverse(entry, find, at)
    case 'increment':
      return increment(entry, find, at)
    case 'chargeback':
      return chargeBack(entry, find, at)
    case 'chargebackReversal':
      return reverseChargeback(entry, find, at)
  }
}

function capture(entry: Entry, find: Find, at: number): Effect | Code {
  const on = originalOf(entry, find, ['authorize', 'increment'], 'no-authorisation')
  if (typeof on === 'string') return on
  if (on.finalBy.capture !== undefined) return 'over-capture'
  if (entry.amount.minor > rest(on)) return 'over-capture'
  return effect(entry, [held(entry, -1n, at), charged(entry, 1n, at)], ownSums(entry), {
    shifts: [{ key: on.key, sum: 'captured', minor: entry.amount.minor }],
    marks: finalMark(entry, on, 'capture'),
  })
}

function refund(entry: Entry, find: Find, at: number): Effect | Code {
  const on = originalOf(entry, find, ['debit', 'capture', 'credit'], 'no-charge')
  if (typeof on === 'string') return on
  if (on.chargeback?.state === 'open') return 'charged-back'
  if (on.finalBy.refund !== undefined || entry.amount.minor > rest(on)) return 'over-refund'
  return effect(entry, [charged(entry, on.kind === 'credit' ? 1n : -1n, at)], ownSums(entry), {
    shifts: [{ key: on.key, sum: 'refunded', minor: entry.amount.minor }],
    marks: finalMark(entry, on, 'refund'),
  })
}

const reversible = ['authorize', 'increment', 'debit', 'capture', 'credit'] as const

function reverse(entry: Entry, find: Find, at: number): Effect | Code {
  const on = originalOf(entry, find, reversible, 'nothing-to-reverse')
  if (typeof on === 'string') return on
  if (on.chargeback?.state === 'open') return 'charged-back'
  if (on.finalBy.reverse !== undefined || on.sums.refunded > 0n) return 'over-reversal'
  if (entry.amount.minor > rest(on)) return 'over-reversal'
  return release(entry, on, find, at, finalMark(entry, on, 'reverse'))
}

/**
 * Returns `entry.amount` of the amount taken from `on`. A capture's part returns to its
 * authorisation.
 */
function release(
  entry: Entry,
  on: Entry,
  find: Find,
  at: number,
  marks: Effect['marks'] = [],
): Effect {
  const minor = entry.amount.minor
  const shifts: Shift[] = [{ key: on.key, sum: 'released', minor }]
  if (on.kind === 'authorize') {
    return effect(entry, [held(entry, -1n, at)], noSums, { shifts, marks })
  }
  const movements = [charged(entry, on.kind === 'credit' ? 1n : -1n, at)]
  const root = on.kind === 'capture' ? rootOf(on, find) : undefined
  // A root that forgot its captures (see the in-process transport) gets nothing back.
  if (root !== undefined && root.sums.captured >= minor) {
    shifts.push({ key: root.key, sum: 'captured', minor: -minor })
    // A replaced authorisation holds nothing, so a returned amount is released at once.
    if (root.replacedBy === undefined) movements.push(held(entry, 1n, at))
    else shifts.push({ key: root.key, sum: 'released', minor })
  }
  // A reversed final capture no longer closes its authorisation.
  const opened = root === undefined ? [] : (unmark(on, find) ?? [])
  return effect(entry, movements, noSums, { shifts, marks: [...(marks ?? []), ...opened] })
}

function increment(entry: Entry, find: Find, at: number): Effect | Code {
  const on = originalOf(entry, find, ['authorize', 'increment'], 'no-original')
  if (typeof on === 'string') return on
  if (isOver(on)) return 'closed'
  return effect(entry, [held(entry, 1n, at)], noSums, {
    shifts: [{ key: on.key, sum: 'authorised', minor: entry.amount.minor }],
    marks: [{ key: entry.key, change: (self) => ({ ...self, root: on.key }) }],
  })
}

/** A reauthorisation holds its own amount and releases the old rest. */
function replace(entry: Entry, find: Find, at: number): Effect | Code {
  const on = originalOf(entry, find, ['authorize', 'increment'], 'no-original')
  if (typeof on === 'string') return on
  if (isOver(on)) return 'closed'
  const open = rest(on)
  const letGo = { on: 'held', minor: -open, currency: on.amount.currency, at } as const
  return effect(entry, [held(entry, 1n, at), letGo], ownSums(entry), {
    shifts: [{ key: on.key, sum: 'released', minor: open }],
    marks: [{ key: on.key, change: (old) => ({ ...old, replacedBy: entry.key }) }],
  })
}

/** Nothing can be added any more. */
const isOver = (on: Entry): boolean =>
  on.finalBy.capture !== undefined ||
  on.replacedBy !== undefined ||
  (on.sums.released > 0n && rest(on) === 0n)

/** Chargebacks come from the issuer, so no sum limits them. */
function chargeBack(entry: Entry, find: Find, at: number): Effect | Code {
  const on = originalOf(entry, find, ['debit', 'capture', 'refund'], 'nothing-disputed')
  if (typeof on === 'string') return on
  if (on.chargeback !== undefined && on.chargeback.by !== entry.key) return 'second-chargeback'
  return effect(entry, [charged(entry, -1n, at)], noSums, {
    marks: [dispute(on, entry, 'open')],
  })
}

function reverseChargeback(entry: Entry, find: Find, at: number): Effect | Code {
  const named = find(entry.original ?? '')
  const on = named?.kind === 'chargeback' ? find(named.original ?? '') : named
  if (on?.chargeback === undefined) return 'no-chargeback'
  if (on.chargeback.state === 'reversed' && on.chargeback.by !== entry.key) {
    return 'chargeback-reversed'
  }
  if (on.amount.currency !== entry.amount.currency) return 'wrong-currency'
  return effect(entry, [charged(entry, 1n, at)], noSums, {
    marks: [
      dispute(on, entry, 'reversed'),
      { key: entry.key, change: (self) => ({ ...self, root: on.key }) },
    ],
  })
}

const dispute = (on: Entry, by: Entry, state: 'open' | 'reversed'): Effect['marks'][number] => ({
  key: on.key,
  change: (entry) => ({ ...entry, chargeback: { by: by.key, state }, durable: true }),
})

/** The effect of undoing an approved entry, or the reason why it cannot be undone. */
export function undoing(entry: Entry, find: Find, at: number): Effect | Code {
  if (entry.chargeback !== undefined) return 'charged-back'
  switch (entry.kind) {
    case 'authorize':
    case 'debit':
    case 'credit':
    case 'capture': {
      if (entry.sums.captured > 0n || entry.sums.refunded > 0n) return 'over-reversal'
      if (entry.replacedBy !== undefined) return 'closed'
      if (entry.kind === 'authorize' && entry.sums.authorised !== entry.amount.minor) {
        return 'over-reversal'
      }
      const all = { ...entry, amount: { ...entry.amount, minor: rest(entry) } }
      const undone = release(all, entry, find, at, unmark(entry, find))
      return entry.replaces ? bringBack(entry, undone, find, at) : undone
    }
    case 'refund':
    case 'reverse':
    case 'increment': {
      const shifts = entry.shifts.map((shift) => ({ ...shift, minor: -shift.minor }))
      const impossible = shifts.some((shift) => refuses(shift, find))
      if (impossible) return entry.kind === 'increment' ? 'over-reversal' : 'closed'
      const movements = entry.movements.map((move) => ({ ...move, minor: -move.minor, at }))
      return { sums: entry.sums, movements, shifts, marks: unmark(entry, find) }
    }
    case 'chargeback':
    case 'chargebackReversal':
      return 'wrong-original'
    case 'verify':
    case 'none':
      return { sums: entry.sums, movements: [], shifts: [], marks: [] }
  }
}

/** An undone reauthorisation restores the old authorisation. */
function bringBack(entry: Entry, undone: Effect, find: Find, at: number): Effect {
  const old = find(entry.shifts[0]?.key ?? '')
  if (old?.replacedBy !== entry.key) return undone
  const open = entry.shifts[0]?.minor ?? 0n
  const { replacedBy: _undone, ...free } = old
  return {
    ...undone,
    movements: [
      ...undone.movements,
      { on: 'held', minor: open, currency: old.amount.currency, at },
    ],
    shifts: [...undone.shifts, { key: old.key, sum: 'released', minor: -open }],
    marks: [{ key: old.key, change: ({ sums }) => ({ ...free, sums }) }],
  }
}

/** Whether a shift would break the rule of its entry, or is too late. */
function refuses(shift: Shift, find: Find): boolean {
  const target = find(shift.key)
  if (target === undefined) return false
  if (target.state !== 'approved' || target.replacedBy !== undefined) return true
  const sums = { ...target.sums, [shift.sum]: target.sums[shift.sum] + shift.minor }
  return sums[shift.sum] < 0n || rest({ ...target, sums }) < 0n
}

/** An undone final operation closes nothing. */
function unmark(entry: Entry, find: Find): Effect['marks'] {
  const on = find(entry.original ?? '')
  const root = on?.kind === 'increment' ? find(on.root ?? '') : on
  const kind = entry.kind
  if (root === undefined) return []
  if (kind !== 'capture' && kind !== 'refund' && kind !== 'reverse') return []
  if (root.finalBy[kind] !== entry.key) return []
  const { [kind]: _undone, ...finalBy } = root.finalBy
  return [{ key: root.key, change: (on) => ({ ...on, finalBy }) }]
}

/** The entry that the operation counts against, an increment's authorisation in its place. */
function originalOf(
  entry: Entry,
  find: Find,
  kinds: readonly Entry['kind'][],
  missing: Code,
): Entry | Code {
  const named = find(entry.original ?? '')
  if (named === undefined) return missing
  if (named.state === 'pending') return 'original-open'
  if (named.state !== 'approved') return missing
  if (!kinds.includes(named.kind)) return 'wrong-original'
  const on = named.kind === 'increment' ? find(named.root ?? '') : named
  if (on === undefined || on.state !== 'approved') return missing
  return on.amount.currency === entry.amount.currency ? on : 'wrong-currency'
}

/** The authorisation of a capture. */
function rootOf(capture: Entry, find: Find): Entry | undefined {
  const named = find(capture.original ?? '')
  return named?.kind === 'increment' ? find(named.root ?? '') : named
}

function finalMark(
  { key, final }: Entry,
  on: Entry,
  kind: 'capture' | 'refund' | 'reverse',
): Effect['marks'] {
  if (!final) return []
  return [{ key: on.key, change: (now) => ({ ...now, finalBy: { ...now.finalBy, [kind]: key } }) }]
}

const ownSums = ({ amount }: Entry): Sums => ({ ...noSums, authorised: amount.minor })

const held = ({ amount }: Entry, sign: bigint, at: number): Movement => ({
  on: 'held',
  minor: sign * amount.minor,
  currency: amount.currency,
  at,
})
const charged = (entry: Entry, sign: bigint, at: number): Movement => ({
  ...held(entry, sign, at),
  on: 'charged',
})

const effect = (
  entry: Entry,
  movements: readonly Movement[],
  sums: Sums = ownSums(entry),
  others: Partial<Pick<Effect, 'shifts' | 'marks'>> = {},
): Effect => ({ sums, movements, shifts: others.shifts ?? [], marks: others.marks ?? [] })
