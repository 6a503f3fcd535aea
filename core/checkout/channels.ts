/**
 * The channels that may take the payment of a checkout: its own, or for a merchant those of the dispatching rules. Until
 * the shopper presses, nobody knows which rule fits.
 */
import { limits } from '@tollgate/schemas'
import type { Addressee, Channel } from '../entity/directory.ts'

export type Candidate = {
  readonly channel: Channel
  /** Null: every brand. */
  readonly only: readonly string[] | null
}

export function channelsOf(addressee: Addressee): readonly Candidate[] {
  if (addressee.rules === undefined) return [{ channel: addressee, only: null }]
  return addressee.rules
    .filter(({ channel }) => !channel.closed)
    .map(({ channel, lists }) => ({
      channel: {
        id: channel.id,
        name: channel.name,
        path: [channel.id, ...addressee.path],
        settings: { ...addressee.settings, ...channel.settings },
      },
      only: lists.brands === null ? null : [...lists.brands],
    }))
}

/** Origins of pages that some channel lets pay. Undefined: no list keeps a page away. */
export function originsOf(addressee: Addressee): readonly string[] | undefined {
  const own = listIn(addressee)
  if (addressee.rules === undefined) return own
  const lists = channelsOf(addressee).map(({ channel }) => listIn(channel))
  if (lists.length === 0 || lists.includes(undefined)) return own
  const all = [...new Set(lists.flatMap((list) => list ?? []))]
  return own === undefined ? all : all.filter((origin) => own.includes(origin))
}

const listIn = ({ settings }: Pick<Channel, 'settings'>): readonly string[] | undefined =>
  (settings as { widgetOrigins?: readonly string[] }).widgetOrigins

/** Failed tries after which a checkout is closed: the least that any of its channels allows. */
export function mostTries(addressee: Addressee): number {
  const of = ({ checkoutTries }: Channel['settings'], other: number) =>
    typeof checkoutTries === 'number' ? checkoutTries : other
  const own = of(addressee.settings, limits.checkoutTries.usual)
  const open = (addressee.rules ?? []).filter(({ channel }) => !channel.closed)
  if (open.length === 0) return own
  return Math.min(...open.map(({ channel }) => of(channel.settings, own)))
}
