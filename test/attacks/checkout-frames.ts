import { assets } from '../../plugins/widget/index.ts'
import type { Attack, AttackRun } from './attack.ts'
import { foreign, own } from './ground.ts'
import {
  ask,
  askAll,
  basket,
  channelWith,
  openCheckout,
  paymentsOf,
  press,
  pressed,
  returnUrlIn,
} from './shopper.ts'
import { type Answer, get, post, requestBytes } from './wire.ts'

const shops = ['https://shop.example', 'https://other.shop.example'] as const

/**
 * Pages around our pages. Messages from foreign origins need a browser: `test/browser/isolation.test.ts`
 * sends them.
 */
export const checkoutFrames: Attack = {
  name: 'frames',
  title:
    'pages of shoppers in frames of strangers, frames of other checkouts, and files beside the widget',
  async run(run) {
    const { url } = await run.ground.host()
    const frames = await framesOf(run, url)
    const pages = await unframed(run, url)
    const files = await besideFiles(run, url)
    return { frames, pages, files }
  },
}

const policyOf = ({ headers }: Answer, name: string): string[] | undefined =>
  headers
    .get('content-security-policy')
    ?.split(';')
    .map((directive) => directive.trim().split(/\s+/))
    .find(([first]) => first === name)
    ?.slice(1)

/** The addresses of the frames of a checkout. */
const frameAddresses = (id: string): string[] =>
  assets.frames.map(({ hash, name }) => `/v1/checkouts/${id}/frame/${hash}/${name}`)

/** A frame names exactly the origins of its checkout's channel, whatever the request says. */
async function framesOf(run: AttackRun, url: string): Promise<number> {
  const { ground, find } = run
  const [merchants, stranger] = [ground.tokens[1]!, ground.foreignToken]
  const make = async (entityId: string, token: string) => {
    const answer = await ask(url, post('/v1/checkouts', token, { ...basket, entityId }))
    return String(JSON.parse(answer.body).id)
  }
  const listed = await channelWith(ground, 'Two shops', { widgetOrigins: shops })
  const none = await channelWith(ground, 'No shop', { widgetOrigins: [] })
  const mine = await make(listed, merchants)
  const addresses = frameAddresses(mine)
  const expected = [
    [mine, shops.join(' ')],
    [await make(none, merchants), "'none'"],
    [await make(foreign.channel, stranger), 'https: http:'],
    [`${'0'.repeat(32)}.none`, 'https: http:'],
  ] as const
  const headers = [
    ['Origin', 'https://attacker.example'],
    ['Referer', 'https://attacker.example/'],
    ['X-Forwarded-Host', 'attacker.example'],
  ] as const
  let asked = 0
  for (const address of addresses) {
    for (const [id, ancestors] of expected) {
      const path = address.replace(mine, id)
      const answer = await ask(
        url,
        requestBytes('GET', `${path}?origin=https://attacker.example`, headers, undefined),
      )
      const told = policyOf(answer, 'frame-ancestors')?.join(' ')
      asked += 1
      if (answer.status !== 200)
        find('the attack did not reach its target', `${path}: ${answer.status}`)
      if (told !== ancestors) find('a frame may stand elsewhere', `${path}: ${told}`)
      judgeFrame(run, path, answer)
      if (answer.body.includes(id)) find('a frame repeats its address', path)
    }
  }
  return asked
}

/** Nothing in a document of the fields may come from elsewhere, be kept, or tell its address. */
function judgeFrame({ find }: AttackRun, path: string, answer: Answer): void {
  const { headers } = answer
  if (policyOf(answer, 'default-src')?.join() !== "'none'") {
    find('a frame may load something', `${path}: ${headers.get('content-security-policy')}`)
  }
  const scripts = policyOf(answer, 'script-src')?.join(' ') ?? ''
  if (/unsafe-|\*|data:|blob:/.test(scripts)) find('a frame may run other scripts', scripts)
  if (headers.get('cache-control') !== 'no-store') find('a frame is kept', path)
  if (headers.get('referrer-policy') !== 'no-referrer') find('a frame tells its address', path)
  if (headers.has('set-cookie')) find('a frame sets a cookie', path)
}

/** Pages in the whole tab stand in no frame: the hosted page, the way back, and refusals. */
async function unframed(run: AttackRun, url: string): Promise<number> {
  const { ground, find } = run
  const id = await openCheckout(url, ground.tokens[0]!, own.channel)
  const answer = await ask(url, press(id, { paymentBrand: 'PAYPAL' }))
  const bank = pressed(answer).redirect?.url ?? ''
  const [payment] = await paymentsOf(ground, id)
  const paths = [
    `/v1/checkouts/${id}/page`,
    `/v1/checkouts/${id}/page?other=1`,
    `/v1/checkouts/${'0'.repeat(32)}.none/page`,
    returnUrlIn(bank).pathname,
    `/v1/return/${payment!.id}/wrong`,
    `/v1/checkouts/${id}/state`,
    `/v1/checkouts/${id}/widget`,
  ]
  for (const path of paths) {
    const reply = await ask(
      url,
      requestBytes('GET', path, [['Sec-Fetch-Dest', 'iframe']], undefined),
    )
    if (policyOf(reply, 'frame-ancestors')?.join() !== "'none'") {
      find('a page of a shopper stands in a frame', `${path}: ${[...reply.headers]}`)
    }
    if (reply.headers.get('x-frame-options') !== 'DENY') {
      find('an old browser shows a page in a frame', path)
    }
    if (/unsafe-inline|unsafe-eval/.test(policyOf(reply, 'script-src')?.join() ?? '')) {
      find('a page of a shopper runs any script', path)
    }
  }
  return paths.length
}

/** Names of files lead to files of the widget, and to nothing beside them; none belongs to a checkout. */
async function besideFiles({ ground, find }: AttackRun, url: string): Promise<number> {
  const id = await openCheckout(url, ground.tokens[0]!, own.channel)
  const addresses = frameAddresses(id)
  const hash = addresses[0]?.split('/').at(-2) ?? ''
  const names = [
    '..%2f..%2fpackage.json',
    '..%2F..%2F..%2Fetc%2Fpasswd',
    '....%2f%2fpackage.json',
    '%2e%2e%2findex.ts',
    '..\\package.json',
    'number%00.html',
    'number/..',
    'constructor',
    '__proto__',
    'number.html',
    'cvv.js.map',
  ]
  const paths = names.flatMap((name) => [
    `/v1/widget/${hash}/${name}`,
    `/v1/checkouts/${id}/frame/${hash}/${name}`,
  ])
  // Documents of fields are served under their checkouts alone, where their ancestors are known.
  paths.push(
    ...['number', 'cvv', 'submit', 'challenge'].map((name) => `/v1/widget/${hash}/${name}`),
  )
  const answers = await askAll(
    url,
    paths.map((path) => get(path)),
  )
  for (const [at, { status, body }] of answers.entries()) {
    if (status !== 404 && status !== 400) find(`a file beside the widget: ${status}`, paths[at]!)
    if (/root:|"version"|import /.test(body)) find('a file of the host is served', paths[at]!)
  }
  return paths.length
}
