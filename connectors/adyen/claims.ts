/** What every claim of a webhook has. */
import type { Claim, Money } from '@tollgate/plugin-kit'
import type { Item } from './signature.ts'

type Identity = Pick<Item, 'eventCode' | 'pspReference' | 'success'>

export const eventId = ({ eventCode, pspReference, success }: Identity, round = 0): string =>
  `${eventCode}.${pspReference}.${success}${round === 0 ? '' : `.${round}`}`

/** The id of what an account tells of a payment that another account made: that one tells more under the plain id. */
export const ofOtherAccount = (id: string): string => `${id}.other-account`

/** An amount that our currencies do not have. The engine cannot read such a claim, and lists it for operators. */
export const unreadable = ({ value, currency }: Pick<Item, 'value' | 'currency'>) =>
  ({ value, currency }) as unknown as Money

/** An item whose meaning is in doubt: the engine lists a claim without an outcome for operators. */
export const unclear = (item: Item): Claim =>
  ({
    eventId: eventId(item),
    key: item.merchantReference,
    amount: unreadable(item),
  }) as unknown as Claim
