import { endpoints } from '../../schemas/index.ts'
import { type Attack, type AttackRun, triedOf } from './attack.ts'
import { shapeOf } from './foreign.ts'
import { foreign, own } from './ground.ts'
import { wrongWith } from './judge.ts'
import { debitFields, saidIn } from './payments.ts'
import type { Random } from './random.ts'
import {
  ask,
  askAll,
  basket,
  cardOf,
  openCheckout,
  paymentsOf,
  press,
  pressed,
  stateOf,
} from './shopper.ts'
import { get, post, requestBytes } from './wire.ts'

/** The id of a checkout stands in every page of its shopper: it pays that checkout, and nothing more. */
export const checkoutBearers: Attack = {
  name: 'bearers',
  title: 'checkout ids as tokens, ids near a real one, and registrations of others in a checkout',
  async run(run) {
    const { ground } = run
    const { url } = await ground.host()
    const [token, second] = [ground.tokens[0]!, ground.tokens[2]!]
    const mine = await openCheckout(url, token, own.channel)
    const other = await openCheckout(url, second, own.channel)
    const theirs = await openCheckout(url, ground.foreignToken, foreign.channel)
    const asTokens = await useAsTokens(run, url, [mine, theirs], [other, theirs])
    const near = await tryNear(run, url, mine)
    const strangers = await readAsStranger(run, url, theirs, token)
    const registrations = await payWithOthers(run, url, mine)
    for (const [name, id] of [
      ['the own', mine],
      ['another', other],
      ["another merchant's", theirs],
    ] as const) {
      const state = await stateOf(url, id)
      if (state !== 'free') run.find(`${name} checkout changed`, `it is ${state}`)
      if ((await paymentsOf(ground, id)).length > 0) run.find(`${name} checkout was paid`, id)
    }
    await paysItself(run, url, mine)
    return { 'as tokens': asTokens, 'near ids': near, strangers, registrations }
  },
}

/** As a bearer, and beside it in the path, a checkout id opens no endpoint that asks for a token. */
async function useAsTokens(
  { profile, random, find }: AttackRun,
  url: string,
  bearers: readonly string[],
  targets: readonly string[],
): Promise<number> {
  const all = endpoints.filter(({ login }) => login === 'token')
  const asked = triedOf(profile, all)
  const nobody = random.text('0123456789ABCDEF', 32)
  const requests = asked.flatMap(({ method, path }) =>
    [...bearers, `${nobody}.node`].flatMap((bearer) =>
      targets.map((target) => {
        const at = path.replaceAll(/\{\w+\}/g, target)
        const isRead = method === 'GET' || method === 'DELETE'
        return isRead
          ? requestBytes(method, at, [['Authorization', `Bearer ${bearer}`]], undefined)
          : post(at, bearer, { ...debitFields, entityId: own.channel })
      }),
    ),
  )
  const answers = await askAll(url, requests)
  for (const [at, answer] of answers.entries()) {
    const wrong = wrongWith(answer)
    if (wrong !== undefined) find(wrong, requests[at]!.toString())
    if (answer.status !== 403) {
      find(`a checkout id as a token is answered ${answer.status}`, requests[at]!.toString())
    }
  }
  return requests.length
}

/** Ids that differ a little from a real one, and other spellings of it. */
function nearIds(id: string, random: Random): string[] {
  const [hex = '', node = ''] = id.split('.')
  const changed = [...hex].map((digit, at) => {
    const next = 'FEDCBA9876543210'[Number.parseInt(digit, 16)]!
    return `${hex.slice(0, at)}${next}${hex.slice(at + 1)}.${node}`
  })
  return [
    ...changed,
    id.toLowerCase(),
    hex,
    `${hex}.`,
    `${hex}.${node}x`,
    `${hex}.other`,
    `${hex.slice(1)}.${node}`,
    `0${id}`,
    `${id}%00`,
    `${id}%20`,
    `${hex}%25.${node}`,
    `${hex.slice(0, 31)}_.${node}`,
    `${hex.slice(0, 31)}%25.${node}`,
    ...Array.from({ length: 50 }, () => `${random.text('0123456789ABCDEF', 32)}.${node}`),
  ]
}

async function tryNear(run: AttackRun, url: string, id: string): Promise<number> {
  const { profile, random, find } = run
  const ids = triedOf(profile, nearIds(id, random))
  const shapes = new Map<string, string>()
  for (const [what, request] of [
    ['state', (one: string) => get(`/v1/checkouts/${one}/state`)],
    ['widget', (one: string) => get(`/v1/checkouts/${one}/widget`)],
    ['press', (one: string) => press(one, cardOf())],
    ['register', (one: string) => press(one, cardOf(), 'registration')],
  ] as const) {
    const answers = await askAll(url, ids.map(request))
    for (const [at, answer] of answers.entries()) {
      const wrong = wrongWith(answer)
      if (wrong !== undefined) find(wrong, ids[at]!)
      if (answer.status !== 404) find(`${what}: a near id is answered ${answer.status}`, ids[at]!)
      shapes.set(`${what} ${shapeOf(answer, ids[at]!)}`, ids[at]!)
    }
  }
  if (shapes.size !== 4) find('near ids are answered in several ways', [...shapes].join('\n'))
  return 4 * ids.length
}

/** The other merchant's checkout is answered to a token as one that does not exist. */
async function readAsStranger(
  { random, find }: AttackRun,
  url: string,
  theirs: string,
  token: string,
): Promise<number> {
  const nobodys = `${random.text('0123456789ABCDEF', 32)}.${theirs.split('.')[1]}`
  let compared = 0
  for (const request of [
    (id: string) => get(`/v1/checkouts/${id}/payment?entityId=${own.channel}`, token),
    (id: string) => get(`/v1/checkouts/${id}/payment?entityId=${foreign.channel}`, token),
    (id: string) => get(`/v1/checkouts/${id}/registration?entityId=${own.channel}`, token),
    (id: string) => post(`/v1/checkouts/${id}`, token, { entityId: own.channel, ...basket }),
    (id: string) =>
      requestBytes(
        'DELETE',
        `/v1/checkouts/${id}?entityId=${own.channel}`,
        [['Authorization', `Bearer ${token}`]],
        undefined,
      ),
  ]) {
    const [one, other] = await askAll(url, [request(theirs), request(nobodys)])
    const shapes = [shapeOf(one!, theirs), shapeOf(other!, nobodys)]
    if (one!.status === 200) find("another merchant's checkout is answered", shapes[0]!)
    if (shapes[0] !== shapes[1]) {
      find("another merchant's checkout is answered otherwise than none", shapes.join('\n'))
    }
    compared += 1
  }
  return compared
}

/** A checkout takes the registrations that its merchant listed, and no other. */
async function payWithOthers(run: AttackRun, url: string, mine: string): Promise<number> {
  const { ground, find } = run
  const token = ground.tokens[0]!
  const store = async (by: string, entityId: string) => {
    const { amount: _, currency: __, paymentType: ___, ...account } = debitFields
    const answer = await ask(url, post('/v1/registrations', by, { ...account, entityId }))
    if (answer.status !== 200) throw new Error(`no registration was made: ${answer.body}`)
    return String(saidIn(answer).id)
  }
  const [listed, unlisted] = [await store(token, own.channel), await store(token, own.channel)]
  const theirs = await store(ground.foreignToken, foreign.channel)
  const withOne = await openCheckout(url, token, own.channel, { 'registrations[0].id': listed })
  const refused = await ask(
    url,
    post('/v1/checkouts', token, {
      ...basket,
      entityId: own.channel,
      'registrations[0].id': theirs,
    }),
  )
  if (refused.status !== 400) find("a checkout offers another merchant's account", refused.body)
  const foreignOnes = [unlisted, theirs, '0'.repeat(32), mine.slice(0, 32).toLowerCase()]
  for (const id of [mine, withOne]) {
    for (const registrationId of foreignOnes) {
      const answer = await ask(url, press(id, { registrationId, 'card.cvv': '123' }))
      const { state, errors = [] } = pressed(answer)
      if (state !== 'invalid' || errors[0]?.field !== 'registrationId') {
        find('a registration that the checkout does not list is taken', answer.body)
      }
    }
    if ((await paymentsOf(ground, id)).length > 0) find('a foreign registration paid', id)
  }
  const right = await ask(url, press(withOne, { registrationId: listed, 'card.cvv': '123' }))
  if (pressed(right).state !== 'paid') find('the attack did not reach its target', right.body)
  return 2 * foreignOnes.length + 1
}

/** The same id pays its own checkout once, and no press after that moves money. */
async function paysItself({ ground, find }: AttackRun, url: string, id: string): Promise<void> {
  const first = await ask(url, press(id, cardOf()))
  if (pressed(first).state !== 'paid') find('the own checkout cannot be paid', first.body)
  const again = await askAll(
    url,
    Array.from({ length: 8 }, () => press(id, cardOf())),
    8,
  )
  for (const answer of again) {
    if (pressed(answer).state !== 'paid') find('a paid checkout takes a press', answer.body)
  }
  const paid = await paymentsOf(ground, id)
  if (paid.length !== 1) find('a checkout was paid more than once', JSON.stringify(paid))
}
