import { operationNamed } from '../../schemas/index.ts'
import { type Attack, type AttackRun, triedOf } from './attack.ts'
import { own } from './ground.ts'
import { wrongWith } from './judge.ts'
import {
  ask,
  askAll,
  basket,
  cardOf,
  nonce,
  openCheckout,
  paymentsOf,
  postForm,
  press,
  pressed,
  resultOf,
  shop,
  stateOf,
} from './shopper.ts'
import { requestBytes } from './wire.ts'

/** Fields whose change would be worth money: the list of the table has to have them. */
const worthMost = [
  'amount',
  'currency',
  'paymentType',
  'entityId',
  'descriptor',
  'card.numberType',
  'merchantTransactionId',
  'testMode',
  'shopperResultUrl',
  'notificationUrl',
  'threeDSecure.eci',
  'threeDSecure.verificationId',
  'standingInstruction.source',
  'customer.ip',
  'customer.merchantCustomerId',
]

/** The merchant's order, which no browser changes. */
const ordered = {
  descriptor: 'Right shop',
  merchantTransactionId: 'right-order',
  'customer.givenName': 'Right',
  'customer.surname': 'Person',
  'billing.country': 'DE',
}

/** Values that are valid somewhere, so that a field is refused for its name. */
const values: Readonly<Record<string, string>> = {
  amount: '0.01',
  currency: 'JPY',
  paymentType: 'PA',
  entityId: '0'.repeat(32),
  descriptor: 'Other shop',
  'card.numberType': 'DPAN',
  testMode: 'INTERNAL',
  shopperResultUrl: 'https://attacker.example/',
  notificationUrl: 'https://attacker.example/',
  'threeDSecure.eci': '05',
  'standingInstruction.source': 'MIT',
  'customer.ip': '192.0.2.99',
}

/** The fields of a payment that only a merchant's server sends, from the tables. */
function foreignFields(): string[] {
  const submitted = new Set(operationNamed('checkouts.pay').fields.map(({ name }) => name))
  const names = [
    ...operationNamed('payments.create').fields,
    ...operationNamed('checkouts.create').fields,
  ].map(({ name }) => name)
  return [...new Set(names)].filter((name) => !submitted.has(name))
}

const spelled = (name: string) => name.replaceAll('[n]', '[0]').replaceAll('[name]', '[abc]')

export const checkoutTampering: Attack = {
  name: 'tampering',
  title: "every field of a payment in the submission of a shopper's browser, in every notation",
  async run(run) {
    const { ground, find } = run
    const { url } = await ground.host()
    const token = ground.tokens[0]!
    const names = foreignFields()
    const missing = worthMost.filter((name) => !names.includes(name))
    if (missing.length > 0) find('a browser may send a field of the merchant', missing.join(' '))
    const order = () => openCheckout(url, token, own.channel, ordered)
    const id = await order()
    const sent = await sendEach(run, url, id, names)
    if ((await stateOf(url, id)) !== 'free') find('a tampered submission was accepted', id)
    const made = await paymentsOf(ground, id)
    if (made.length > 0) find('a tampered submission made a payment', JSON.stringify(made))
    await paysAsOrdered(run, url, id)
    await paysByPage(run, url, await order(), names)
    return { fields: names.length, submissions: sent }
  },
}

/** Every field alone, in flat and nested JSON and in a form. */
async function sendEach(
  { profile, random, find }: AttackRun,
  url: string,
  id: string,
  names: readonly string[],
): Promise<number> {
  const ways: ((name: string, value: string) => Buffer)[] = [
    (name, value) => press(id, { ...cardOf(), [name]: value }),
    (name, value) => press(id, nested({ ...cardOf(), [name]: value })),
    (name, value) =>
      postForm(`/v1/checkouts/${id}/payment`, { nonce: nonce(), ...cardOf(), [name]: value }),
  ]
  const others = names.filter((name) => !worthMost.includes(name))
  const all = [...worthMost, ...triedOf(profile, others)].flatMap((name) =>
    (profile === 'full' || worthMost.includes(name) ? ways : [random.pick(ways)]).map((way) => ({
      name,
      request: way(spelled(name), values[name] ?? 'abc'),
    })),
  )
  const answers = await askAll(
    url,
    all.map(({ request }) => request),
  )
  for (const [at, answer] of answers.entries()) {
    const { name, request } = all[at]!
    const wrong = answer.status === 200 ? undefined : wrongWith(answer)
    const { state } = pressed(answer)
    if (wrong !== undefined || (answer.status === 200 && state !== 'invalid')) {
      find(`${name}: ${wrong ?? `answered ${state}`}`, request.toString())
    }
  }
  return all.length
}

/** `card.number` becomes a group; a name with an index stays as it is. */
function nested(fields: Readonly<Record<string, string>>): object {
  const made: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    const keys = name.includes('[') ? [name] : name.split('.')
    let at = made
    for (const key of keys.slice(0, -1)) {
      at[key] = typeof at[key] === 'object' ? at[key] : {}
      at = at[key] as Record<string, unknown>
    }
    at[keys.at(-1)!] = value
  }
  return made
}

/** Names fill what the merchant left empty; the rest of the payment is what the merchant ordered. */
async function paysAsOrdered({ ground, find }: AttackRun, url: string, id: string): Promise<void> {
  const query = new URLSearchParams({ amount: '0.01', currency: 'JPY', entityId: '0'.repeat(32) })
  const body = {
    nonce: nonce(),
    ...cardOf(),
    'customer.givenName': 'Wrong',
    'billing.country': 'US',
    'billing.city': 'Filled',
  }
  const request = requestBytes(
    'POST',
    `/v1/checkouts/${id}/payment?${query}`,
    [
      ['Content-Type', 'application/json'],
      ['Authorization', `Bearer ${ground.foreignToken}`],
      ['Idempotency-Key', 'tampering'],
    ],
    Buffer.from(JSON.stringify(body)),
  )
  const answer = await ask(url, request)
  if (pressed(answer).state !== 'paid') find('the attack did not reach its target', answer.body)
  await isAsOrdered({ ground, find }, url, id, { 'billing.city': 'Filled' })
}

/** The form of the hosted page with every field of the merchant beside its own: they are not even read. */
async function paysByPage(
  { ground, find }: AttackRun,
  url: string,
  id: string,
  names: readonly string[],
): Promise<void> {
  const foreign = names.map((name) => [spelled(name), values[name] ?? 'abc'])
  const form = {
    ...Object.fromEntries(foreign),
    ...cardOf(),
    nonce: nonce(),
    method: 'card',
    expiry: '05/34',
    'customer.givenName': 'Wrong',
  }
  const answer = await ask(url, postForm(`/v1/checkouts/${id}/page`, form))
  const to = answer.headers.get('location') ?? ''
  if (answer.status !== 303 || !to.startsWith(`${shop}&id=`)) {
    find('the hosted page does not go on to the merchant', `${answer.status} ${to}`)
  }
  await isAsOrdered({ ground, find }, url, id, {})
}

async function isAsOrdered(
  { ground, find }: Pick<AttackRun, 'ground' | 'find'>,
  url: string,
  id: string,
  filled: Readonly<Record<string, string>>,
): Promise<void> {
  const result = await resultOf(url, ground.tokens[0]!, id, own.channel)
  const right = { ...basket, ...ordered, ...filled }
  for (const [name, value] of Object.entries(right)) {
    const [group = '', field] = name.split('.')
    const found = result[group]
    const told = field === undefined ? found : (found as Record<string, unknown>)?.[field]
    if (told !== value) find(`the browser changed ${name}`, `${String(told)}, not ${value}`)
  }
}
