import { leavesOf } from '../rig/leaves.ts'
import { type Attack, type AttackRun, triedOf } from './attack.ts'
import { own } from './ground.ts'
import { wrongWithPage } from './judge.ts'
import type { Random } from './random.ts'
import {
  ask,
  askAll,
  openCheckout,
  pathOf,
  paymentsOf,
  postForm,
  press,
  pressed,
  returnUrlIn,
  shop,
} from './shopper.ts'
import { type Answer, get, requestBytes } from './wire.ts'

/** The token of a shopper's way back from a bank: who has it can have the payment looked at. */
export const returnTokens: Attack = {
  name: 'returns',
  title:
    'tokens of return addresses: guessed, changed by a bit, exchanged, old, and where they are seen',
  async run(run) {
    const { ground, find } = run
    const host = await ground.host()
    const { url } = host
    const [mine, other] = [await leave(run, url), await leave(run, url)]
    host.log.forbid([mine.token, other.token])
    const guesses = triedOf(run.profile, wrongTokens(mine.token, other.token, run.random))
    const requests = guesses.flatMap((token) => {
      const path = `/v1/return/${mine.payment}/${token}`
      return [get(path), postForm(path, { resultCode: '000.000.000', token: mine.token })]
    })
    requests.push(
      get(`/v1/return/${other.payment}/${mine.token}`),
      get(`/v1/return/${'0'.repeat(32)}/${mine.token}`),
      get(`/v1/return/${mine.checkout}/${mine.token}`),
    )
    const answers = await askAll(url, requests)
    const shapes = new Set<string>()
    for (const [at, answer] of answers.entries()) {
      judgePage(run, answer, requests[at]!)
      if (answer.status !== 404) find(`a guess is answered ${answer.status}`, `request ${at}`)
      shapes.add(`${answer.status} ${answer.body}`)
    }
    if (shapes.size !== 1) find('guesses are answered in several ways', [...shapes].join('\n'))
    for (const one of [mine, other]) {
      const [{ state = '', id = '' } = {}] = await paymentsOf(ground, one.checkout)
      if (state !== 'pending') find('a guess moved a payment', `${id} is ${state}`)
    }
    await comeBack(run, url, mine)
    await isNowhere(run, url, [mine, other])
    for (const line of host.log.wrong) find('a return token is in the log', line.slice(0, 40))
    return { guesses: requests.length, 'ways of answering': shapes.size }
  },
}

type Away = {
  readonly checkout: string
  readonly payment: string
  readonly token: string
  readonly bank: string
}

/** A shopper who was sent to a bank. */
async function leave({ ground }: AttackRun, url: string): Promise<Away> {
  const checkout = await openCheckout(url, ground.tokens[0]!, own.channel)
  const answer = await ask(url, press(checkout, { paymentBrand: 'PAYPAL' }))
  const bank = pressed(answer).redirect?.url
  if (bank === undefined) throw new Error(`no bank was named: ${answer.body}`)
  const [, , , payment = '', token = ''] = returnUrlIn(bank).pathname.split('/')
  return { checkout, payment, token, bank }
}

/** Every token one bit away, other spellings, other lengths, and tokens by chance. */
function wrongTokens(right: string, other: string, random: Random): string[] {
  const bytes = Buffer.from(right, 'base64url')
  const flipped = Array.from({ length: 8 * bytes.length }, (_, bit) => {
    const changed = Buffer.from(bytes)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    return changed.toString('base64url')
  })
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(right.at(-1)!)
  // The last character of 43 has two bits that belong to no byte.
  const respelled = [1, 2, 3].map((bits) => right.slice(0, -1) + alphabet[last ^ bits])
  return [
    ...flipped,
    ...respelled,
    other,
    right.slice(0, -1),
    right.slice(0, 22),
    `${right}=`,
    `${right}A`,
    `${right}%00`,
    `${right}.`,
    right.toLowerCase(),
    bytes.toString('hex'),
    'undefined',
    'A'.repeat(43),
    ...Array.from({ length: 100 }, () => random.text(alphabet, 43)),
  ]
}

function judgePage({ find }: AttackRun, answer: Answer, request: Buffer): void {
  const wrong = wrongWithPage(answer)
  if (wrong !== undefined) find(`a return: ${wrong}`, request.toString().split('\r\n')[0]!)
  const { headers } = answer
  if (headers.get('referrer-policy') !== 'no-referrer') {
    find('the page of a return tells its address to others', String(headers.get('referrer-policy')))
  }
  if (headers.get('cache-control')?.includes('public')) find('a return is kept', '')
}

/** With the right token: to the merchant, without the token; twice and late, too. */
async function comeBack(run: AttackRun, url: string, away: Away): Promise<void> {
  const { ground, find } = run
  const approved = await ask(url, postForm(`${pathOf(away.bank)}/approve`))
  const location = approved.headers.get('location') ?? ''
  const path = pathOf(location)
  if (!path.includes(away.token)) find('the attack did not reach its target', approved.body)
  const told: string[] = []
  for (const request of [
    requestBytes('GET', path, [['Referer', `https://attacker.example/?${away.token}`]], undefined),
    get(path),
    postForm(path, { resultCode: 'cancelled', amount: '0.01' }),
    get(`${path}?shopperResultUrl=https://attacker.example/&id=x`),
  ]) {
    const answer = await ask(url, request)
    judgePage(run, answer, request)
    told.push(`${answer.status} ${answer.headers.get('location')}`)
    const seen = `${[...answer.headers].join('\n')}\n${answer.body}`
    if (seen.includes(away.token)) find('a return token goes on to the merchant', told.at(-1)!)
  }
  const [first = ''] = told
  if (!first.startsWith(`303 ${shop}&id=`)) find('a shopper does not get to the merchant', first)
  if (new Set(told).size !== 1) find('an old token is answered otherwise', told.join('\n'))
  const paid = await paymentsOf(ground, away.checkout)
  if (paid.length !== 1 || paid[0]!.state !== 'approved') {
    find('a return twice is not one approved payment', JSON.stringify(paid))
  }
}

/** In no column, no event, no notification; the merchant reads none either. */
async function isNowhere(run: AttackRun, url: string, all: readonly Away[]): Promise<void> {
  const { ground, find } = run
  const forms = all.flatMap(({ token }) => [
    token,
    Buffer.from(token, 'base64url').toString('hex'),
    Buffer.from(token, 'base64url').toString('base64'),
  ])
  for (const { table, column, text } of await leavesOf(ground)) {
    if (forms.some((form) => text.includes(form))) {
      find(`${table}.${column} holds a return token`, text.slice(0, 60))
    }
  }
  const token = ground.tokens[0]!
  for (const path of [
    ...all.map(({ checkout }) => `/v1/checkouts/${checkout}/payment?entityId=${own.channel}`),
    ...all.map(({ payment }) => `/v1/payments/${payment}?entityId=${own.channel}`),
    ...all.map(({ payment }) => `/v1/payments/${payment}/steps?entityId=${own.channel}`),
    `/v1/events?entityId=${own.channel}`,
  ]) {
    const { body } = await ask(url, get(path, token))
    if (forms.some((form) => body.includes(form))) find(`${path} tells a return token`, path)
  }
}
