import { weigh } from '../page/portions.ts'
import type { Payment } from '../payment/types.ts'

/** What every answer about a payment has beside what was sent and what the acquirer said. */
const usualBytes = 600

export const weightOfPayment = ({ request, answer }: Payment): number =>
  usualBytes + weigh(request) + weigh(answer)

export const weightOfRecord = usualBytes
