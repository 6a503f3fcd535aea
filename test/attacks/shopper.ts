/** Checkouts of the attacker or of the victim, and the browsers of their shoppers. */
import simulator from '../../connectors/simulator/index.ts'
import { createGateway, type Gateway, localKeys } from '../../core/index.ts'
import { testKey } from '../rig/gateway.ts'
import { type Ground, own } from './ground.ts'
import { saidIn } from './payments.ts'
import { type Answer, formBytes, get, post, requestBytes, sendAll } from './wire.ts'

export const basket = { amount: '92.00', currency: 'EUR', paymentType: 'DB' } as const
export const shop = 'https://shop.example/thanks?order=7'

/** The fields of a card that the simulator approves. */
export const cardOf = (number = '4200000000000000', cvv = '123') => ({
  'card.number': number,
  'card.holder': 'Jane Jones',
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
  'card.cvv': cvv,
})

type Fields = Readonly<Record<string, string>>

export async function ask(url: string, request: Buffer): Promise<Answer> {
  const [answer] = await askAll(url, [request])
  return answer!
}

export const askAll = (url: string, requests: readonly Buffer[], connections = 4) =>
  sendAll(url, requests, { connections, pipelined: 1, withinMs: 60_000 })

/** Makes a checkout as a merchant's server does. @returns its id. */
export async function openCheckout(
  url: string,
  token: string,
  entityId: string,
  more: Fields = {},
): Promise<string> {
  const fields = { ...basket, shopperResultUrl: shop, entityId, ...more }
  const answer = await ask(url, post('/v1/checkouts', token, fields))
  if (answer.status === 200) return String(saidIn(answer).id)
  throw new Error(`an honest checkout was answered ${answer.status} ${answer.body}`)
}

let presses = 0

/** A nonce of its own for every press. */
export function nonce(): string {
  presses += 1
  return `attack-${String(presses).padStart(12, '0')}`
}

/** A press of the pay button, as the widget sends it. */
export const press = (
  id: string,
  fields: object,
  kind = 'payment',
  more: readonly (readonly [string, string])[] = [],
): Buffer =>
  requestBytes(
    'POST',
    `/v1/checkouts/${id}/${kind}`,
    [['Content-Type', 'application/json'], ['Accept', 'application/json'], ...more],
    Buffer.from(JSON.stringify({ nonce: nonce(), ...fields })),
  )

export type Pressed = {
  readonly state?: string
  readonly resultUrl?: string
  readonly attemptsLeft?: number
  readonly redirect?: { readonly url: string }
  readonly errors?: readonly { readonly field: string }[]
}

export const pressed = ({ body }: Answer): Pressed => {
  try {
    return JSON.parse(body) as Pressed
  } catch {
    return {}
  }
}

export const stateOf = async (url: string, id: string): Promise<string> =>
  String(pressed(await ask(url, get(`/v1/checkouts/${id}/state`))).state)

/** The result as the merchant's server reads it. */
export const resultOf = async (url: string, token: string, id: string, entityId: string) => {
  const answer = await ask(url, get(`/v1/checkouts/${id}/payment?entityId=${entityId}`, token))
  return JSON.parse(answer.body) as Record<string, unknown>
}

/** The payments that a checkout made, with all that an attack could change of them. */
export const paymentsOf = ({ sql }: Ground, checkoutId: string) =>
  sql<{ id: string; state: string; seq: number }>(
    'select id, state, seq from tollgate.payment where checkout_id = $1 order by id',
    [checkoutId],
  )

/** A form that a browser posts without a token. */
export const postForm = (path: string, fields: Fields = {}): Buffer =>
  requestBytes(
    'POST',
    path,
    [['Content-Type', 'application/x-www-form-urlencoded']],
    formBytes(fields),
  )

/** The address to which the simulator's page leads back: its own address carries it. */
export function returnUrlIn(redirect: string): URL {
  const visit = new URL(redirect).pathname.split('/').at(-1)!.split('.')[0]!
  return new URL(JSON.parse(Buffer.from(visit, 'base64url').toString()).returnUrl)
}

export const pathOf = (url: string | URL): string => {
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** Sets the ground up further, as the operators of the installation do. */
export async function asOperator<T>(
  { databaseUrl }: Ground,
  work: (gateway: Gateway) => Promise<T>,
): Promise<T> {
  const gateway = await createGateway({
    database: { url: databaseUrl },
    plugins: [simulator],
    environment: 'test',
    keys: localKeys(testKey),
    role: 'api',
    migrate: false,
  })
  try {
    return await work(gateway)
  } finally {
    await gateway.close()
  }
}

/** A further channel of the attacker's merchant, with these settings. */
export const channelWith = (ground: Ground, name: string, settings: object): Promise<string> =>
  asOperator(ground, ({ entities }) =>
    entities.create({ kind: 'channel', name, parentId: own.merchant, settings: settings as never }),
  )
