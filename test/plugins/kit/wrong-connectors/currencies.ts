/** Second tables of decimals: right for payments, wrong for what follows them. */
import type { Claim } from '@tollgate/plugin-kit'
import { claiming, sending, type Wrong } from './changed-connector.ts'

const followUps = 'captures and refunds keep their minor units in every currency'
const messages = 'events and chargebacks keep their minor units in every currency'

const sendingIn = (
  kind: 'capture' | 'refund',
  currency: string,
  wrong: (minor: bigint) => bigint,
) =>
  sending(
    (operation) =>
      operation.amount.currency === currency
        ? { ...operation, amount: { currency, minor: wrong(operation.amount.minor) } }
        : operation,
    [kind],
  )

const claimingIn = (
  isMeant: (claim: Claim) => boolean,
  currency: string,
  wrong: (minor: bigint) => bigint,
) =>
  claiming((claim) =>
    claim.amount.currency === currency && isMeant(claim)
      ? { ...claim, amount: { currency, minor: wrong(claim.amount.minor) } }
      : claim,
  )

const isDispute = ({ outcome }: Claim) => outcome.is === 'chargeback'

export const currencyMistakes: readonly Wrong[] = [
  {
    what: 'refunds hundredths of yen',
    connector: sendingIn('refund', 'JPY', (minor) => minor / 100n),
    noticed: [followUps],
  },
  {
    what: 'captures dinars with two decimals',
    connector: sendingIn('capture', 'KWD', (minor) => (minor / 10n) * 10n),
    noticed: [followUps],
  },
  {
    what: 'reads hundredths of yen in events',
    connector: claimingIn(
      (claim) => !isDispute(claim),
      'JPY',
      (minor) => minor * 100n,
    ),
    noticed: [messages],
  },
  {
    what: 'reads dinars with two decimals in chargebacks',
    connector: claimingIn(isDispute, 'KWD', (minor) => minor / 10n),
    noticed: [messages],
  },
]
