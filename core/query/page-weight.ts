import { weigh } from '../page/portions.ts'
import type { Payment } from '../payment/types.ts'

/** Bytes of every payment's view besides the request and the acquirer's data. */
const usualBytes = 600

export const weightOfPayment = ({ request, answer }: Payment): number =>
  usualBytes + weigh(request) + weigh(answer)

export const weightOfRecord = usualBytes
