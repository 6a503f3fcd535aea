/** Parts of a merchant's requests. */
import type { Kind } from '@tollgate/plugin-kit'
import type { Command, Share, Way } from './command.ts'
import type { Fate } from './fate.ts'

export const plainWay: Way = { engine: 0, keyed: false, twice: false, crash: undefined }

export const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % list.length]

/** The same fate for every operation. */
export const same = (fate: Fate): Partial<Record<Kind, Fate>> => ({
  authorize: fate,
  debit: fate,
  credit: fate,
  capture: fate,
  refund: fate,
  reverse: fate,
  increment: fate,
})

export const part = (minor: bigint, share: Share): bigint =>
  share === 'whole' ? minor : share === 'half' ? minor / 2n : minor / 3n

export const amountFields = (minor: bigint) => ({
  amount: `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`,
  currency: 'EUR',
})

export function followUpFields(
  { type, share, isFinal }: Extract<Command, { do: 'follow' }>,
  on: string,
  minor: bigint,
): Readonly<Record<string, unknown>> {
  // A sale is reversed only as a whole.
  const isAll =
    (type === 'RV' && on !== 'PA') || (share === 'whole' && ['RV', 'CB', 'CR'].includes(type))
  return {
    paymentType: type === 'PA+' ? 'PA' : type,
    ...(type === 'PA+' ? { standingInstruction: { industryPractice: 'INCREMENTAL_AUTH' } } : {}),
    ...(isFinal && (type === 'CP' || type === 'RF') ? { sequence: 'FINAL' } : {}),
    ...(isAll ? {} : amountFields(minor)),
  }
}

const targets: Readonly<Record<string, readonly string[]>> = {
  CP: ['PA', 'PA+'],
  RC: ['PA'],
  'PA+': ['PA'],
  RV: ['PA', 'DB', 'CP', 'PA.CP', 'RB', 'RC'],
  RF: ['DB', 'CP', 'PA.CP', 'RB', 'RC', 'CD'],
  RB: ['DB'],
  CB: ['DB', 'CP'],
  CR: ['CB'],
}
/** Whether a follow-up of this type may be attempted. */
export const takes = (type: string, on: string) => targets[type]?.includes(on) === true
