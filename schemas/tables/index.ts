import type { Group } from '../table.ts'
import { airline } from './airline.ts'
import { asynchronous } from './asynchronous.ts'
import { bankAccount } from './bank-account.ts'
import { basic, entity } from './basic.ts'
import { billing, merchantBilling } from './billing.ts'
import { card } from './card.ts'
import { cartItems } from './cart-items.ts'
import { cartPayments } from './cart-payments.ts'
import { chargeback } from './chargeback.ts'
import { checkout, checkoutOffer, checkoutPress, checkoutResponse, checkoutStateResponse, checkoutSubmission, checkoutSubmissionResponse, walletSession, walletSessionResponse } from './checkout.ts'
import { compatibility } from './compatibility.ts'
import { corporate } from './corporate.ts'
import { customParameters } from './custom-parameters.ts'
import { customer, shippingCustomer } from './customer.ts'
import { eventFeed, eventListResponse, eventResponse } from './event-feed.ts'
import { forex } from './forex.ts'
import { giftCard } from './gift-card.ts'
import { job } from './job.ts'
import { marketPlace } from './market-place.ts'
import { merchant } from './merchant.ts'
import { notification, paymentNotification, scheduledResponse, scheduleNotification } from './notification.ts'
import {
  answer, answerWithoutId, authenticationProof, authenticationResponse, failure, paymentResponse, resultCodeListResponse,
} from './payment-response.ts'
import { linkedQuery, query, queryResponse } from './query.ts'
import { recipient } from './recipient.ts'
import { reconciliationRecord } from './reconciliation.ts'
import { recurringMigration } from './recurring-migration.ts'
import {
  reportActionResponse, reportDeliveryQuery, reportDeliveryResponse, reportDestination, reportDestinationListResponse, reportDestinationQuery,
  reportDestinationResponse, reportReplay, sftpKey, sftpKeyListResponse, sftpKeyResponse,
} from './report-delivery.ts'
import { reporting } from './reporting.ts'
import {
  aggregationListResponse, aggregationResponse, recordListResponse, reportDays, reportFileResponse, reportList, reportOrder, reportPage,
} from './reports.ts'
import { risk } from './risk.ts'
import {
  clock,
  clockAdvance,
  clockListResponse,
  clockResponse,
  page,
  schedule,
  scheduleChange,
  scheduleListResponse,
  schedulePayment,
  schedulePreview,
  scheduleResponse,
  testClock,
} from './schedule.ts'
import { sender } from './sender.ts'
import { merchantShipping, shipping } from './shipping.ts'
import { standingInstruction } from './standing-instruction.ts'
import { stepResponse } from './step.ts'
import { threeDSecure } from './three-d-secure.ts'
import { tokenAccount } from './token-account.ts'
import { registration, registrationPurchase, registrationResponse, tokenization } from './tokenization.ts'
import { virtualAccount } from './virtual-account.ts'
import { applePay, googlePay, samsungPay } from './wallets.ts'
import {
  deliveryQuery, deliveryResponse, webhook, webhookActionResponse, webhookListResponse, webhookQuery, webhookReplay, webhookResponse, webhookRotation,
} from './webhook.ts'

export { searchMandatory } from './query.ts'
export { reconciliationColumns, reportedAmount } from './reconciliation.ts'
export {
  threeDSecureAuthentication,
  threeDSecureExemption,
  threeDSecureExternal,
  threeDSecureMandatory,
  threeDSecureSchemes,
} from './three-d-secure.ts'
export { instrumentGroups } from './tokenization.ts'

/** Every field table, in the order of the reference. */
export const groups: readonly Group[] = [
  basic, entity, forex, card, applePay, googlePay, samsungPay, virtualAccount, bankAccount,
  tokenAccount, customer, shippingCustomer, billing, merchantBilling, shipping, merchantShipping,
  corporate, sender, recipient, merchant, cartItems, cartPayments, marketPlace, airline,
  tokenization, registration, registrationPurchase, recurringMigration, standingInstruction, threeDSecure, customParameters,
  asynchronous, risk, giftCard, job, schedule, schedulePayment, scheduleChange, schedulePreview, page, eventFeed, testClock, clock, clockAdvance, chargeback, compatibility, query, linkedQuery,
  reporting, reportDays, reportOrder, reportPage, reportList, webhook, webhookQuery, webhookRotation, webhookReplay, deliveryQuery, answer, answerWithoutId, failure, paymentResponse, authenticationResponse, authenticationProof, registrationResponse, checkout, checkoutPress, checkoutSubmission, checkoutResponse, checkoutStateResponse, checkoutSubmissionResponse, checkoutOffer, walletSession, walletSessionResponse, scheduleResponse, scheduleListResponse, clockResponse, clockListResponse, stepResponse, eventResponse, eventListResponse,
  queryResponse, webhookResponse, webhookListResponse, webhookActionResponse, deliveryResponse, notification, paymentNotification, scheduledResponse, scheduleNotification, reconciliationRecord, aggregationResponse, aggregationListResponse, recordListResponse, reportFileResponse, resultCodeListResponse,
  reportDestination, reportDestinationQuery, reportReplay, reportDeliveryQuery, sftpKey, reportDestinationResponse, reportDestinationListResponse, reportDeliveryResponse, reportActionResponse, sftpKeyResponse, sftpKeyListResponse,
]

/** The tables by name: `groupsByName.get('cart.items')`. */
export const groupsByName: ReadonlyMap<string, Group> = new Map(
  groups.map((group) => [group.name, group]),
)
