/** Parts of the statements that turn events into deliveries or find due deliveries. */
import { type Sql, sql } from '../db/sql.ts'
import { triesInOrder } from './backoff.ts'
import { eventTypesOf, isMadeBy, verificationType } from './notified-events.ts'

/** The engine's own constants, inlined into the statement's text. */
const literal = (text: string): Sql => ({ strings: [`'${text}'`], values: [] })
const listOf = (texts: readonly string[]): Sql => ({
  strings: [`(${texts.map((text) => `'${text}'`).join(', ')})`],
  values: [],
})

export const verification = literal(verificationType)

/** Events about a payment's outcome, which the payment's own URL receives, too. */
export const paymentEvents = listOf(eventTypesOf('PAYMENT'))
const makingEvents = listOf(eventTypesOf('REGISTRATION').filter(isMadeBy))
const registrationEvents = listOf(eventTypesOf('REGISTRATION').filter((type) => !isMadeBy(type)))
const scheduleEvents = listOf(eventTypesOf('SCHEDULE'))

/**
 * The notifications of `events`, one row each: `kind` is the type; `resource` and `seq` give the
 * order. A registration's order begins with the payment that created it.
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
 * Endpoints with unfinished earlier notifications of the resource of `waiting`. By the resource
 * alone (offset 0 excludes the endpoint): statistics from an idle time make the endpoint's waiting
 * deliveries look cheap.
 */
export const earlier = sql`(
      select endpoint_id
      from tollgate.delivery
      where resource = waiting.resource and state = 'pending' and seq < waiting.seq
        and attempts <= ${triesInOrder}::integer
      offset 0)`
