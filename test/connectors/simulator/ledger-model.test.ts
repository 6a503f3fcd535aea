import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import {
  apply,
  decide,
  entriesOf,
  entryOf,
  openLedger,
  type Request,
  reverseByKey,
  totals,
} from '../../../connectors/simulator/ledger.ts'

/**
 * A second ledger: a list of approved operations whose sums are added up anew, so that an error in
 * the ledger's running sums shows.
 */
type Done = { kind: Request['kind']; key: string; on: string | undefined; minor: bigint }

const at = Date.UTC(2030, 0, 1)
const kinds = ['authorize', 'debit', 'credit', 'capture', 'refund', 'reverse', 'increment'] as const

const steps = fc.array(
  fc.record({
    does: fc.constantFrom(...kinds, 'undo', 'repeat' as const),
    /** The index of an earlier key. */
    on: fc.nat(20),
    /** Below .87, because the rules about amounts are not tested here. */
    minor: fc.integer({ min: 1, max: 80 }),
  }),
  { maxLength: 40 },
)

const sum = (list: readonly Done[]) => list.reduce((total, { minor }) => total + minor, 0n)

function rootOf(done: readonly Done[], one: Done): Done {
  return one.kind === 'increment' ? rootOf(done, done.find(({ key }) => key === one.on)!) : one
}

/**
 * The amount taken from an approved operation by a kind of operation, increments counted with their
 * root.
 */
const taken = (done: readonly Done[], from: Done, kind: Request['kind']) =>
  done.filter((one) => {
    const on = done.find(({ key }) => key === one.on)
    return one.kind === kind && on !== undefined && rootOf(done, on) === from
  })

function restOf(done: readonly Done[], on: Done): bigint {
  const gone = sum(taken(done, on, 'refund')) + sum(taken(done, on, 'reverse'))
  if (on.kind !== 'authorize') return on.minor - gone
  const captures = taken(done, on, 'capture')
  const kept = captures.map((one) => one.minor - sum(taken(done, one, 'reverse')))
  const captured = kept.reduce((total, minor) => total + minor, 0n)
  return on.minor + sum(taken(done, on, 'increment')) - captured - gone
}

function mayBeDone(done: readonly Done[], next: Done): boolean {
  if (next.on === undefined) return next.kind !== 'capture' && !isFollowUp(next.kind)
  const named = done.find(({ key }) => key === next.on)
  if (named === undefined) return false
  const on = rootOf(done, named)
  const fits = next.minor <= restOf(done, on)
  if (next.kind === 'capture') return on.kind === 'authorize' && fits
  if (next.kind === 'increment') {
    const reversed = taken(done, on, 'reverse').length > 0 && restOf(done, on) === 0n
    return on.kind === 'authorize' && !reversed
  }
  if (next.kind === 'refund') return ['debit', 'capture', 'credit'].includes(on.kind) && fits
  const reversible = ['authorize', 'debit', 'capture', 'credit'].includes(on.kind)
  return reversible && taken(done, on, 'refund').length === 0 && fits
}
const isFollowUp = (kind: Request['kind']) =>
  kind === 'capture' || kind === 'refund' || kind === 'reverse' || kind === 'increment'

function expectedTotals(done: readonly Done[]): { held: bigint; charged: bigint } {
  let held = 0n
  let charged = 0n
  for (const one of done) {
    const on = done.find(({ key }) => key === one.on)
    const root = on && rootOf(done, on)
    const sign = root?.kind === 'credit' ? -1n : 1n
    if (one.kind === 'authorize' || one.kind === 'increment') held += one.minor
    else if (one.kind === 'debit') charged += one.minor
    else if (one.kind === 'credit') charged -= one.minor
    else if (one.kind === 'refund') charged -= sign * one.minor
    else if (one.kind === 'capture') {
      held -= one.minor
      charged += one.minor
    } else if (root?.kind === 'authorize') held -= one.minor
    else {
      charged -= sign * one.minor
      if (root?.kind === 'capture') held += one.minor
    }
  }
  return { held, charged }
}

it('the ledger approves exactly the operations its sums allow, and no sequence breaks a sum', () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      const ledger = openLedger()
      const keys: string[] = []
      let done: Done[] = []
      for (const { does, on, minor } of sequence) {
        const named = keys[on % Math.max(keys.length, 1)]
        if (does === 'undo' || does === 'repeat') {
          if (named === undefined) continue
          const before = totals(ledger)
          if (does === 'undo') {
            const { answer, writes } = reverseByKey(ledger, named, at)
            apply(ledger, writes)
            if (answer.status === 'reversed') {
              // A reversed payment takes its own reversals with it.
              done = done.filter(({ key }) => key !== named)
              done = done.filter((one) => one.on !== named || one.kind !== 'reverse')
            } else assert.deepEqual(totals(ledger), before, 'nothing moves without a reversal')
            continue
          }
          const { kind, key, amount, original } = entryOf(ledger, named)!
          const request = { kind: kind as Request['kind'], key, amount, paymentId: '', signs: {} }
          const repeated = { ...request, instrument: '', ...(original && { original }) }
          apply(ledger, decide(ledger, repeated, at).writes)
          assert.deepEqual(totals(ledger), before, 'a repeat moves nothing')
          continue
        }
        const key = `k${keys.length}`
        const original = isFollowUp(does) ? named : undefined
        const next: Done = { kind: does, key, on: original, minor: BigInt(minor) }
        const change = decide(
          ledger,
          {
            kind: does,
            key,
            paymentId: '',
            amount: { minor: next.minor, currency: 'EUR' },
            instrument: '',
            signs: {},
            ...(original === undefined ? {} : { original }),
          },
          at,
        )
        apply(ledger, change.writes)
        assert.equal(change.answer.status === 'approved', mayBeDone(done, next), `${does} ${key}`)
        if (change.answer.status === 'approved') {
          const on = done.find((one) => one.key === original)
          done.push({ ...next, on: on && rootOf(done, on).key })
        }
        keys.push(key)
        const shown = totals(ledger).EUR ?? { held: 0n, charged: 0n }
        assert.deepEqual(shown, expectedTotals(done))
        assert.ok(shown.held >= 0n, 'the held amount is never negative')
        for (const { sums } of entriesOf(ledger)) {
          const { authorised, captured, released, refunded } = sums
          for (const part of [captured, released, refunded]) assert.ok(part >= 0n)
          assert.ok(captured + released + refunded <= authorised)
        }
      }
    }),
    { numRuns: 1_000 },
  )
})
