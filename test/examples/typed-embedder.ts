/**
 * What an embedding program may write, and what must not compile. The compiler reports every
 * `@ts-expect-error` whose next line compiles.
 */
import type {
  EventView,
  Gateway,
  PaymentView,
  RegistrationView,
  ScheduleView,
  TransactionClient,
} from '@tollgate/core'

const card = { number: '4200000000000000', expiryMonth: '05', expiryYear: '2034' }
const debit = { amount: '92.00', currency: 'EUR', paymentType: 'DB', card } as const
const euros = { amount: '92.00', currency: 'EUR' } as const

export async function requests({ payments }: Gateway, client: TransactionClient): Promise<void> {
  const { id } = await payments.create({ ...debit, merchantTransactionId: 'order-2041' })
  // @ts-expect-error the field is merchantTransactionId
  await payments.create({ ...debit, merchantTransactionID: 'order-2041' })
  // @ts-expect-error the field is givenName
  await payments.create({ ...debit, customer: { firstName: 'Jane' } })
  // @ts-expect-error no currency has this code
  await payments.create({ ...debit, currency: 'EUD' })
  // @ts-expect-error a refund is a follow-up
  await payments.create({ ...debit, paymentType: 'RF' })
  // @ts-expect-error amounts are texts with two decimals
  await payments.create({ ...debit, amount: 92 })
  // @ts-expect-error no brand has this name
  await payments.create({ ...debit, paymentBrand: 'VISAA' })
  // @ts-expect-error a payment has an amount
  await payments.create({ currency: 'EUR', paymentType: 'DB', card })
  await payments.accept(debit, { client })
  // @ts-expect-error the payment needs a transaction
  await payments.accept(debit, {})
  await payments.refund(id, euros)
  // @ts-expect-error the field is currency
  await payments.refund(id, { amount: '92.00', curency: 'EUR' })
  await payments.followUp(id, { paymentType: 'CP', ...euros })
  // @ts-expect-error a debit is no follow-up
  await payments.followUp(id, { paymentType: 'DB', ...euros })
}

export function payment(view: PaymentView): unknown[] {
  const isDebit = view.paymentType === 'DB' && view.currency === 'EUR'
  const shown = [view.id, view.shortId, view.amount, view.result.code, view.card?.last4Digits]
  return [
    ...shown,
    isDebit,
    // @ts-expect-error the field is registrationId
    view.registrationID,
    // @ts-expect-error the field is last4Digits
    view.card?.last4,
    // @ts-expect-error no payment has this type
    view.paymentType === 'DEBIT',
    // @ts-expect-error no currency has this code
    view.currency === 'EURO',
    // @ts-expect-error the field is description
    view.result.text,
  ]
}

export function registration(view: RegistrationView): unknown[] {
  // @ts-expect-error the field is createdAt
  return [view.card?.bin, view.createdAt, view.created]
}

export function schedule(view: ScheduleView): unknown[] {
  // @ts-expect-error the state is CANCELLED
  return [view.job.expression, view.nextExecutions[0], view.state === 'CANCELED']
}

export function event(view: EventView): unknown {
  switch (view.type) {
    case 'PAYMENT':
      // @ts-expect-error an event tells no next actions
      return [view.payload.presentationAmount, view.payload.nextActions]
    case 'REGISTRATION':
      // @ts-expect-error a registration has no executions
      return [view.action, view.payload.paymentBrand, view.payload.nextExecutions]
    case 'SCHEDULE':
      // @ts-expect-error no event has this name
      return [view.payload.state, view.payload.event === 'schedule.canceled']
    default:
      return view satisfies never
  }
}

export async function events(gateway: Gateway): Promise<void> {
  gateway.on(({ type }) => type === 'payment.approved')
  // @ts-expect-error no event has this name
  gateway.on(({ type }) => type === 'payment.aproved')
  await gateway.subscribe('orders', ({ payload }) => void payload.id, { types: ['PAYMENT'] })
  // @ts-expect-error no type has this name
  await gateway.subscribe('orders', () => {}, { types: ['PAYMENTS'] })
}
