/** The rights of an operation. */
import type { Endpoint } from '../table.ts'
import { paymentTypes, scheduledPaymentTypes } from '../tables/payment-types.ts'
import type { RightName } from '../tables/rights.ts'

/** The rights of which the operation needs one; none for a public one. */
export function neededRights({ right, operation }: Endpoint): readonly RightName[] {
  if (right === 'none') return []
  if (right !== 'by payment type') return [right]
  const made = paymentTypes.filter(({ code, use }) =>
    operation.startsWith('schedules.')
      ? scheduledPaymentTypes.some((scheduled) => scheduled === code)
      : use === (operation === 'payments.followUp' ? 'followUp' : 'payment'),
  )
  return [...new Set(made.map((type) => type.right))]
}

/** The second right that every request of the operation needs. */
export const alsoNeeded = ({ also }: Endpoint): readonly RightName[] =>
  also === undefined || also.where !== undefined ? [] : [also.right]

const inWords = (names: readonly string[]) =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`

export function rightInWords(endpoint: Endpoint): string {
  const rights = neededRights(endpoint)
  if (rights.length === 0) return ''
  const names = rights.join(' or ')
  const whose = endpoint.operation.startsWith('schedules.') ? " of the schedule's payments" : ''
  const { also } = endpoint
  if (also !== undefined) {
    const where = also.where === undefined ? '' : ` where ${inWords(also.where)} is sent`
    return `Needs the right ${names} and also ${also.right}${where}.`
  }
  return endpoint.right === 'by payment type'
    ? `Needs the right of the payment type${whose}: ${names}.`
    : `Needs the right ${names}.`
}
