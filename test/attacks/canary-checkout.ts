/** Marked card data through every step of a checkout: submission, decline, challenge, return, webhook and page. */
import type { Receiver } from '../rig/notification-receiver.ts'
import type { AttackRun } from './attack.ts'
import type { Canaries, Sent } from './canary.ts'
import { own } from './ground.ts'
import type { Host } from './host.ts'
import { saidIn } from './payments.ts'
import { ask, cardOf, nonce, openCheckout, pathOf, postForm, press, pressed } from './shopper.ts'
import { type Answer, get, post, requestBytes } from './wire.ts'

/** A number of its own for each step. */
export const checkoutWays = [
  'pressed',
  'pressDeclined',
  'pressInvalid',
  'pressBroken',
  'pressThrows',
  'pressHangs',
  'pressEchoes',
  'pressLeaves',
  'pressChallenged',
  'pressStored',
  'pageInvalid',
  'pageDeclined',
  'pagePaid',
  'pageQuery',
  'returnQuery',
] as const

type Way = (typeof checkoutWays)[number]

type Given = {
  readonly host: Host
  readonly shop: Receiver
  readonly echo: { readonly bodies: readonly string[] }
  readonly canaries: Canaries
  /** The channel whose shoppers are authenticated. */
  readonly authenticating: string
}

export async function payInCheckouts(
  run: AttackRun,
  given: Given,
): Promise<{ answers: Sent[]; returnTokens: string[] }> {
  const { host, shop, echo, canaries } = given
  const token = canaries.tokens[0]!
  const answers: Sent[] = []
  const note = (way: string, answer: Answer) => {
    answers.push({ way, answer })
    return answer
  }
  await subscribe(host, shop, token)
  const make = (more: Record<string, string> = {}, entityId: string = own.channel) =>
    openCheckout(host.url, canaries.tokens[entityId === own.channel ? 0 : 1]!, entityId, {
      notificationUrl: new URL('/unsigned', shop.url).href,
      ...more,
    })
  const entry = (way: Way, more: Record<string, string> = {}) => ({
    ...cardOf(canaries.numbers[way], canaries.codes[0]),
    'card.holder': canaries.holder,
    ...more,
  })
  const expect = async (way: Way, state: string, request: Buffer) => {
    const answer = note(way, await ask(host.url, request))
    const told = pressed(answer).state
    if (told !== state) run.find(`${way}: ${told}, so the attack missed its target`, answer.body)
    return answer
  }

  const declined = { 'card.holder': '800.100.152' }
  const paid = await make()
  await expect(
    'pressInvalid',
    'invalid',
    press(paid, entry('pressInvalid', { 'card.expiryMonth': '13' })),
  )
  await expect('pressDeclined', 'declined', press(paid, entry('pressDeclined', declined)))
  await expect('pressed', 'paid', press(paid, entry('pressed')))
  const brokenBody = `{"nonce":"${nonce()}","card.number":"${canaries.numbers.pressBroken}","card.cvv":"${canaries.codes[0]}"`
  const json = [['Content-Type', 'application/json']] as const
  const broken = requestBytes(
    'POST',
    `/v1/checkouts/${await make()}/payment`,
    json,
    Buffer.from(brokenBody),
  )
  await expect('pressBroken', 'invalid', broken)
  for (const [way, state] of [
    ['pressThrows', 'waiting'],
    ['pressHangs', 'waiting'],
    ['pressEchoes', 'declined'],
    ['pressLeaves', 'waiting'],
  ] as const) {
    const kind = way.slice('press'.length).toLowerCase()
    const id = await make({ testMode: 'EXTERNAL', merchantTransactionId: `${kind}-checkout` })
    await expect(way, state, press(id, entry(way)))
    note(way, await ask(host.url, get(`/v1/checkouts/${id}/state`)))
    note(way, await ask(host.url, get(`/v1/checkouts/${id}/widget`)))
  }
  const storing = await make({ createRegistration: 'true' })
  await expect('pressStored', 'paid', press(storing, entry('pressStored')))

  await visitPage(run, given, note, await make())
  await challenge(run, given, note, make, expect, entry)
  const returnTokens = await comeBack(run, given, note, echo.bodies)
  const result = get(`/v1/checkouts/${paid}/payment?entityId=${own.channel}`, token)
  note('result', await ask(host.url, result))
  note('events', await ask(host.url, get(`/v1/events?entityId=${own.channel}`, token)))
  await judgeNotifications(run, given, returnTokens)
  return { answers, returnTokens }
}

type Note = (way: string, answer: Answer) => Answer

async function subscribe(host: Host, shop: Receiver, token: string): Promise<void> {
  const fields = { entityId: own.channel, url: shop.url }
  const made = await ask(host.url, post('/v1/webhooks', token, fields))
  if (made.status !== 200) throw new Error(`no endpoint was made: ${made.body}`)
  const { signingSecret, encryptionKey } = saidIn(made) as Record<string, string>
  shop.trust({ secrets: [signingSecret!], key: encryptionKey! })
}

/** The hosted page: wrong, declined and right entries, and a number in its address. */
async function visitPage(
  run: AttackRun,
  { host, canaries }: Given,
  note: Note,
  id: string,
): Promise<void> {
  const path = `/v1/checkouts/${id}/page`
  const form = (way: Way, more: Record<string, string>) =>
    postForm(path, {
      nonce: nonce(),
      method: 'card',
      'card.number': canaries.numbers[way]!,
      'card.holder': canaries.holder,
      'card.cvv': canaries.codes[1]!,
      expiry: '05/34',
      ...more,
    })
  const query = `?card.number=${canaries.numbers.pageQuery}&brands=${canaries.numbers.pageQuery}`
  note('pageQuery', await ask(host.url, get(path + query)))
  for (const [way, more] of [
    ['pageInvalid', { expiry: '99/99' }],
    ['pageDeclined', { 'card.holder': '800.100.152' }],
    ['pagePaid', {}],
  ] as const) {
    const answer = note(way, await ask(host.url, form(way, more)))
    const to = answer.headers.get('location') ?? ''
    if (answer.status !== 303) run.find(`${way}: the attack missed its target`, answer.body)
    if (new RegExp(Object.values(canaries.numbers).join('|')).test(to)) {
      run.find('an address repeats a number', to)
    }
    // A query alone is of this host; the page of the merchant is not asked.
    if (!to.startsWith('https:'))
      note(way, await ask(host.url, get(pathOf(new URL(to, host.url + path)))))
  }
  const state = pressed(await ask(host.url, get(`/v1/checkouts/${id}/state`))).state
  if (state !== 'paid') run.find('the hosted page was not paid', String(state))
}

/** A challenge of the simulator, and the way back with the code. */
async function challenge(
  run: AttackRun,
  { host, authenticating }: Given,
  note: Note,
  make: (more: Record<string, string>, entityId: string) => Promise<string>,
  expect: (way: Way, state: string, request: Buffer) => Promise<Answer>,
  entry: (way: Way) => Record<string, string>,
): Promise<void> {
  const asked = {
    'customParameters[3DS2_enrolled]': 'true',
    'customParameters[3DS2_flow]': 'challenge',
  }
  const id = await make(asked, authenticating)
  const request = press(id, { ...entry('pressChallenged'), challenge: 'frame' })
  const answer = await expect('pressChallenged', 'waiting', request)
  const page = pathOf(pressed(answer).redirect?.url ?? host.url)
  note('challenge', await ask(host.url, get(page)))
  const code = { code: '1234', do: 'confirm' }
  const confirmed = note('challenge', await ask(host.url, postForm(page, code)))
  const back = confirmed.headers.get('location') ?? ''
  if (!back.includes('/v1/return/')) run.find('the challenge was not confirmed', confirmed.body)
  note('return', await ask(host.url, get(pathOf(new URL(back, host.url)))))
  const state = pressed(await ask(host.url, get(`/v1/checkouts/${id}/state`))).state
  if (state !== 'paid') run.find('a challenge did not lead to the money', String(state))
}

/** Ways back that the acquirer was told of, with a number in the query. @returns their tokens. */
async function comeBack(
  run: AttackRun,
  { host, canaries }: Given,
  note: Note,
  bodies: readonly string[],
): Promise<string[]> {
  const paths = bodies.flatMap(
    (body) => body.match(/\/v1\/return\/[0-9a-f]{32}\/[A-Za-z0-9_-]{43}/) ?? [],
  )
  if (paths.length === 0) run.find('no acquirer was told a way back', String(bodies.length))
  for (const path of paths) {
    const query = `?PAN=${canaries.numbers.returnQuery}&cvv=${canaries.codes[0]}`
    note('returnQuery', await ask(host.url, get(path + query)))
    note('returnQuery', await ask(host.url, postForm(path, { pan: canaries.numbers.returnQuery! })))
  }
  const tokens = paths.map((path) => path.split('/').at(-1)!)
  host.log.forbid(tokens)
  return tokens
}

/** Notifications arrive, open with the merchant's keys, and hold no canary. */
async function judgeNotifications(
  run: AttackRun,
  { shop, canaries }: Given,
  returnTokens: readonly string[],
): Promise<void> {
  const received = await shop.atLeast(6)
  const secrets = [...Object.values(canaries.numbers), ...canaries.ibans, ...returnTokens]
  for (const { path, body, notification, problem } of received) {
    // The address that a request names has no keys: it gets ids alone.
    if (path === '/' && notification === undefined)
      run.find('a notification cannot be read', String(problem))
    const text = body + JSON.stringify(notification)
    if (secrets.some((secret) => text.includes(secret))) {
      run.find('a notification holds a canary', text)
    }
    if (/"redirect":|"cvv":"[0-9]/i.test(text))
      run.find('a notification has a field too many', text.slice(-500))
  }
}
