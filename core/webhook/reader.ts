/** Reads the data for sending: concurrent reads share one statement. */
import { limits } from '@tollgate/schemas'
import { Gather } from '../db/gather.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import type { Message } from './attempt.ts'
import type { Ready } from './endpoint-queue.ts'
import { keysOf, openSecrets } from './endpoints.ts'
import { type Notification, type StoredEvent, tellableOf, Untellable } from './notification.ts'
import { endpointsToSend, toEndpoint } from './store.ts'
import { dueDeliveries, toDelivery } from './store-delivery.ts'
import type { Delivery, Endpoint } from './types.ts'

export type Run = <Row>(statement: Sql<Row>) => Promise<Row[]>

/** The deliveries that are due for an endpoint; when none is due, whether and when one will be. */
export type Due = {
  readonly deliveries: readonly Delivery[]
  readonly more: boolean
  readonly nextDue: Date | null
}

type Wanted = { readonly endpointId: string; readonly known: readonly string[] }

export class Reader {
  readonly #engine: Engine
  readonly #bodies: Gather<
    { event: StoredEvent; kind: string },
    Notification | Untellable | undefined
  >
  readonly #endpoints: Gather<string, Endpoint | undefined>
  readonly #due: Gather<Wanted, Due>

  constructor(engine: Engine, run: Run) {
    this.#engine = engine
    this.#bodies = new Gather(
      async (wanted) => {
        const events = new Map(wanted.map(({ event }) => [event.id, event]))
        const made = await tellableOf(engine, [...events.values()])
        const keyOf = (one: Notification | Untellable) =>
          one instanceof Untellable ? one.event.id : `${one.event.id} ${one.type}`
        const byKey = new Map(made.map((one) => [keyOf(one), one]))
        return wanted.map(
          ({ event, kind }) => byKey.get(`${event.id} ${kind}`) ?? byKey.get(event.id),
        )
      },
      limits.webhookGatherMs,
      engine.clock,
    )
    this.#endpoints = new Gather(
      async (ids) => {
        const rows = await run(endpointsToSend([...new Set(ids)]))
        const byId = new Map(rows.map((row) => [row.id, toEndpoint(row)]))
        return ids.map((id) => byId.get(id))
      },
      limits.webhookGatherMs,
      engine.clock,
    )
    this.#due = new Gather(
      async (wanted) => {
        const now = new Date(engine.clock.realMs())
        const ids = wanted.map(({ endpointId }) => endpointId)
        const known = wanted.flatMap((one) => one.known)
        const rows = await run(dueDeliveries(ids, now, known, limits.webhooksWaiting / 2))
        const byEndpoint = Map.groupBy(rows, (row) => row.of_endpoint)
        return ids.map((id): Due => {
          const found = byEndpoint.get(id) ?? []
          const [first] = found
          return {
            deliveries: found.filter((row) => row.id !== null).map(toDelivery),
            more: first?.more ?? false,
            nextDue: first?.next_due ?? null,
          }
        })
      },
      limits.webhookGatherMs,
      engine.clock,
    )
  }

  /** Due deliveries of an endpoint that are not in memory. */
  due(endpointId: string, known: readonly string[]): Promise<Due> {
    return this.#due.ask({ endpointId, known })
  }

  /**
   * Settings and keys of an endpoint; undefined when it does not exist. @throws GatewayError when
   * the vault is closed.
   */
  async ready(id: string): Promise<Ready | undefined> {
    const endpoint = await this.#endpoints.ask(id)
    if (endpoint === undefined) return undefined
    const secrets = await openSecrets(this.#engine, endpoint)
    return { endpoint, keys: secrets && keysOf(secrets) }
  }

  /**
   * The message of a delivery; undefined when its resource no longer exists.
   *
   * @throws Untellable when no message can be built, now or later.
   */
  async message({ event, kind }: Delivery): Promise<Message | undefined> {
    if (event === null) return undefined
    const made = await this.#bodies.ask({ event, kind })
    if (made instanceof Untellable) throw made
    return made && { id: made.id, body: made.body, sequence: made.sequence }
  }
}
