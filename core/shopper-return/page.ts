/**
 * The page of the merchant for a shopper who comes back. A page that a browser named with its press is followed only
 * where the channel lists its origin, or, without a list, by the shopper who comes straight from the bank: the address
 * of the return would otherwise lead anybody to a page of a stranger's choice.
 */
import { limits } from '@tollgate/schemas'
import { businessNow } from '../business-time/time.ts'
import type { Engine } from '../engine.ts'
import { isListed, withResource } from '../payment/merchant-page.ts'
import { resourceOf } from '../payment/resource.ts'
import type { Payment } from '../payment/types.ts'
import { pageOfCheckout } from './store.ts'

/** @param before The payment as it was when the shopper arrived. */
export async function pageToReturnTo(engine: Engine, before: Payment): Promise<string | undefined> {
  const page = await pageOf(engine, before)
  return page === undefined ? undefined : withResource(page, resourceOf(before))
}

async function pageOf(engine: Engine, before: Payment): Promise<string | undefined> {
  const { shopperResultUrl } = before.request
  const named = typeof shopperResultUrl === 'string' ? shopperResultUrl : undefined
  if (before.checkoutId === null) return named
  const [checkout] = await engine.lanes.read(pageOfCheckout(before.checkoutId))
  if (checkout === undefined) return undefined
  if (checkout.page !== null) return checkout.page
  if (named === undefined) return undefined
  const of = [checkout.entity_id, before.channelId]
  const settings = await Promise.all(of.map((id) => engine.directory.settings(id)))
  const mayFollow = isListed(settings, named) ?? (await isStraightFromBank(engine, before))
  return mayFollow ? named : undefined
}

async function isStraightFromBank(engine: Engine, before: Payment): Promise<boolean> {
  const { createdAt, settledAt, channelId, clockId } = before
  const nowMs = (await businessNow(engine, channelId, clockId)).getTime()
  if (nowMs >= createdAt.getTime() + limits.checkoutLifeMs) return false
  return settledAt === null || nowMs < settledAt.getTime() + limits.returnAfterEndMs
}
