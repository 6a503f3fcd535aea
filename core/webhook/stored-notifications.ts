/** Parts of the statements that make deliveries of events, or look for those that may be sent. */
import { type Sql, sql } from '../db/sql.ts'
import { triesInOrder } from './backoff.ts'
import { eventTypesOf, isMadeBy, verificationType } from './notified-events.ts'

/** Words of the engine's own that a statement has in its text. */
const literal = (text: string): Sql => ({ strings: [`'${text}'`], values: [] })
const listOf = (texts: readonly string[]): Sql => ({
  strings: [`(${texts.map((text) => `'${text}'`).join(', ')})`],
  values: [],
})

export const verification = literal(verificationType)

/** What became of a payment: what its own URL is told, too. */
export const paymentEvents = listOf(eventTypesOf('PAYMENT'))
const makingEvents = listOf(eventTypesOf('REGISTRATION').filter(isMadeBy))
const registrationEvents = listOf(eventTypesOf('REGISTRATION').filter((type) => !isMadeBy(type)))
const scheduleEvents = listOf(eventTypesOf('SCHEDULE'))

/**
 * What `events` are told as, a row for each notification: `kind` is its type, `resource` and `seq` say what it
 * is in order with. A registration begins with the payment that made it.
 */
export const notificationsOfEvents = sql`
  select id, channel_id, at, 'PAYMENT' as kind, resource, seq
  from events
  where type in ${paymentEvents} and data ->> 'paymentType' is distinct from ${verification}
  union all
  select events.id, events.channel_id, events.at, 'REGISTRATION', registration.id, 0
  from events
  join tollgate.payment on payment.id = events.resource
  join tollgate.registration
    on registration.id = coalesce(payment.registration_id, payment.id) and registration.payment_id = payment.id
  where events.type in ${makingEvents}
  union all
  select id, channel_id, at, 'REGISTRATION', resource, seq
  from events
  where type in ${registrationEvents}
  union all
  select id, channel_id, at, 'SCHEDULE', resource, seq
  from events
  where type in ${scheduleEvents}`

/**
 * Endpoints that earlier notifications of the resource of `waiting` are not through to. By the resource alone
 * (offset 0 keeps the endpoint out of it): statistics taken while nothing waited make all that waits for an
 * endpoint look cheap.
 */
export const earlier = sql`(
      select endpoint_id
      from tollgate.delivery
      where resource = waiting.resource and state = 'pending' and seq < waiting.seq
        and attempts <= ${triesInOrder}::integer
      offset 0)`
