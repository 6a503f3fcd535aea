/** The messages of Acme Bank. */
import {
  type Claim,
  type Inbound,
  type InboundReply,
  isHmac,
  reasonTable,
} from '@tollgate/plugin-kit'
import { moneyIn, outcomeOf } from './answers.ts'
import { read } from './wire.ts'

export const signatureHeader = 'x-acme-bank-signature'

// DECIDE(signature): over which bytes, with which hash, in which form?
export const isSigned = ({ body, headers }: Inbound, notifySecret: string): boolean =>
  isHmac(headers[signatureHeader], body, notifySecret)

// DECIDE(reply): by which words does the acquirer know that its message arrived?
export const reply: InboundReply = { body: '[accepted]' }

// DECIDE(disputes): the acquirer's reasons of chargebacks.
const disputeReasonFor = reasonTable({ fraud: '000.100.220' }, '000.100.200')

/** @throws Error for anything but a message of Acme Bank, without quoting it: anybody can send one. */
export function claimsIn({ body }: Inbound): readonly Claim[] {
  const fields = read(body)
  const amount = fields === undefined ? undefined : moneyIn(fields)
  const { event: eventId, reference: key, dispute, reason = '' } = fields ?? {}
  if (fields === undefined || amount === undefined || eventId === undefined || key === undefined) {
    throw new Error('the message is none of Acme Bank')
  }
  // DECIDE(part): is this the amount that was approved? If it can be the requested one, let code 10 be `unknown` here.
  if (dispute === undefined) {
    return [{ eventId, key, outcome: outcomeOf(fields, undefined), amount }]
  }
  // DECIDE(dispute id): without ids of disputes, leave out `reference`: an invented one swallows the second dispute.
  const refs = { dispute }
  const outcome = { is: 'chargeback', reason: disputeReasonFor(reason), refs } as const
  return [{ eventId, key, outcome, amount, reference: dispute }]
}
