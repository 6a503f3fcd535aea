/** A real host with a real engine and the real widget: scripts on one origin, fields on another. */
import { release } from '@tollgate/widget'
import { type Body, type Hosted, startHost } from '../../host/http/hosted.ts'
import { freePort } from '../../rig/free-port.ts'
import type { TestGatewayOptions } from '../../rig/gateway.ts'

export type RealGateway = {
  readonly host: Hosted
  readonly origin: string
  readonly fields: string
  readonly scriptOf: (checkoutId: string) => string
  /** Makes a checkout as a merchant's server does. */
  readonly checkout: (more?: Readonly<Record<string, string>>) => Promise<Body>
  /** Changes a checkout as a merchant's server does. */
  readonly update: (checkoutId: string, fields: Readonly<Record<string, string>>) => Promise<Body>
  /** Asks for the result as a merchant's server does. */
  readonly result: (checkoutId: string) => Promise<Body>
  /** Removes a checkout as a merchant's server does. */
  readonly remove: (checkoutId: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** @param more Options of the engine. */
export async function realGateway(more: TestGatewayOptions = {}): Promise<RealGateway> {
  const port = await freePort()
  const origin = `http://localhost:${port}`
  // Browsers take every name below localhost for this machine.
  const fields = `http://fields.localhost:${port}`
  const host = await startHost(
    { port, origins: { merchant: origin, fields } },
    { widget: release(), publicUrl: origin, fieldsUrl: fields, ...more },
  )
  const ask = async (path: string, form?: Readonly<Record<string, string>>): Promise<Body> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { Authorization: `Bearer ${host.token}` },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    })
    return (await response.json()) as Body
  }
  const basket = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }
  return {
    host,
    origin,
    fields,
    scriptOf: (id) => `${origin}/v1/paymentWidgets.js?checkoutId=${id}`,
    checkout: (more = {}) => {
      // A checkout that stores an account and moves no money has no type.
      const basics = more.createRegistration === 'only' ? {} : basket
      const rest = more.createRegistration === 'only' ? { createRegistration: 'true' } : more
      return ask('/v1/checkouts', { entityId: host.channel, ...basics, ...rest })
    },
    update: (id, fields) => ask(`/v1/checkouts/${id}`, { entityId: host.channel, ...fields }),
    result: (id) => ask(`/v1/checkouts/${id}/payment?entityId=${host.channel}`),
    remove: async (id) => {
      const path = `/v1/checkouts/${id}?entityId=${host.channel}`
      const headers = { Authorization: `Bearer ${host.token}` }
      await fetch(`http://127.0.0.1:${port}${path}`, { method: 'DELETE', headers })
    },
    close: () => host.close(),
  }
}
