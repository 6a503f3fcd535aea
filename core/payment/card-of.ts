/** The card of a payment, or of the one that it builds upon. */
import type { Engine } from '../engine.ts'
import { type OwnCard, ownCardOf } from './own-number.ts'
import { paymentById, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

export async function cardOf(engine: Engine, given: Payment): Promise<OwnCard | undefined> {
  for (let payment = given; ; ) {
    const card = ownCardOf(payment)
    if (card !== undefined || payment.referencedId === null) return card
    const [before] = await engine.lanes.single(paymentById(payment.referencedId, null))
    if (before === undefined) return undefined
    payment = toPayment(before)
  }
}
