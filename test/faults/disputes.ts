/**
 * Chargebacks and their reversals in every shape, each recorded in the oracle's books before its
 * message.
 */
import { channelId } from '../rig/installation/installation.ts'
import type { Scene } from './injections.ts'
import { say, type Target } from './telling.ts'
import { tryToRefund } from './waiting.ts'

/** `chargeback`: whole, and booked by the acquirer's own process. */
export const shapes = [
  'chargeback',
  'chargeback-reversed',
  'chargeback-in-parts',
  'chargeback-in-another-currency',
  'chargeback-after-its-reversal',
  'chargeback-reversed-beyond',
  'chargeback-by-authorisation',
  'chargeback-repeated',
  'chargeback-without-reference',
  'chargeback-of-declined',
  'chargeback-twice-the-amount',
] as const
export type Shape = (typeof shapes)[number]

type Fact = {
  readonly kind: 'chargeback' | 'reversal'
  /** The reference of the dispute, or the id of the event in its place. */
  readonly reference: string
  readonly minor: bigint
  readonly currency?: string
  /** Sent without a reference: the event has this id. */
  readonly isEvent?: true
  /** Sent under a known reference with another amount: it must be listed and change nothing. */
  readonly isOther?: boolean
  /** Another event about the same dispute. */
  readonly again?: true
}

export async function dispute(scene: Scene, target: Target, how: Shape): Promise<0 | 1> {
  const { minor } = target
  const name = nameOf(target)
  const whole = { kind: 'chargeback', reference: `d-${name}`, minor } as const
  const part = minor / 3n + 1n
  switch (how) {
    case 'chargeback':
    case 'chargeback-reversed':
      // The acquirer's process sends events to one account only.
      if (target.channel !== channelId) return tell(scene, target, whole)
      await book(scene, target, 'chargeback')
      if (how === 'chargeback-reversed') await book(scene, target, 'reversal')
      else await tryToRefund(scene, target, 'chargeback')
      return 1
    case 'chargeback-in-parts':
      await tell(scene, target, { ...whole, minor: part, reference: `d1-${name}` })
      await tell(scene, target, { ...whole, minor: part, reference: `d2-${name}` })
      await tryToRefund(scene, target, 'chargeback')
      return tell(scene, target, { kind: 'reversal', reference: `d1-${name}`, minor: part })
    case 'chargeback-in-another-currency': {
      const told = await tell(scene, target, { ...whole, currency: 'USD' })
      if (told === 1) await tryToRefund(scene, target, 'chargeback')
      return told
    }
    case 'chargeback-after-its-reversal':
      await tell(scene, target, { ...whole, kind: 'reversal' })
      return tell(scene, target, whole)
    case 'chargeback-reversed-beyond':
      await tell(scene, target, { ...whole, minor: part })
      return tell(scene, target, { ...whole, kind: 'reversal' })
    case 'chargeback-repeated':
      await tell(scene, target, { ...whole, minor: part })
      await tell(scene, target, { ...whole, minor: part, again: true })
      return tell(scene, target, { ...whole, minor: part + 1n, isOther: true })
    case 'chargeback-without-reference':
      await tell(scene, target, { ...whole, isEvent: true })
      return tell(scene, target, { ...whole, isEvent: true })
    case 'chargeback-twice-the-amount':
      await tell(scene, target, { ...whole, reference: `d1-${name}` })
      return tell(scene, target, { ...whole, reference: `d2-${name}` })
    default:
      return tell(scene, target, whole)
  }
}

/** Letters only, because possible card numbers are masked everywhere. */
const nameOf = ({ key }: Target): string =>
  key.replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)))

async function tell(scene: Scene, target: Target, fact: Fact): Promise<0 | 1> {
  const { kind, reference, minor, currency = 'EUR' } = fact
  if (fact.again !== true) await record(scene, target, fact, false)
  const suffix = fact.again === true ? '-again' : fact.isOther === true ? '-other' : ''
  return say(scene, target, {
    eventId: fact.isEvent === true ? reference : `${kind}-${reference}${suffix}`,
    status: 'approved',
    minor,
    currency,
    dispute: {
      kind: kind === 'chargeback' ? 'chargeback' : 'chargebackReversal',
      reference: fact.isEvent === true ? undefined : reference,
    },
  })
}

async function record(
  { ground }: Scene,
  { id, key }: Target,
  { kind, reference, minor, currency = 'EUR', isOther = false }: Fact,
  isBooked: boolean,
): Promise<void> {
  await ground.sql(
    `insert into oracle.fact (kind, reference, key, payment_id, minor, currency, is_other, is_booked)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    [
      kind,
      reference,
      isBooked ? bookedKey(kind, key) : key,
      id,
      minor,
      currency,
      isOther,
      isBooked,
    ],
  )
}

const bookedKey = (kind: Fact['kind'], key: string) =>
  `${kind === 'chargeback' ? 'cb' : 'cr'}-${key}`

/** Books in the acquirer's own process, which sends the event. */
async function book(scene: Scene, target: Target, kind: Fact['kind']): Promise<void> {
  const own = bookedKey(kind, target.key)
  const { minor } = target
  // Without its own reference, the id of the event identifies the dispute.
  await record(scene, target, { kind, reference: `${own}-approved`, minor }, true)
  const original = kind === 'chargeback' ? target.key : bookedKey('chargeback', target.key)
  await scene.ground.acquirer.control({
    [kind === 'chargeback' ? 'chargeback' : 'chargebackReversal']: {
      key: own,
      original,
      amount: { minor: String(minor), currency: 'EUR' },
      reason: '000.100.220',
    },
  })
}
