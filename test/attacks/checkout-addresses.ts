import { type Attack, type AttackRun, triedOf } from './attack.ts'
import { own } from './ground.ts'
import { debitFields } from './payments.ts'
import {
  ask,
  askAll,
  basket,
  cardOf,
  channelWith,
  openCheckout,
  press,
  pressed,
  shop,
} from './shopper.ts'
import { get, post, requestBytes } from './wire.ts'

/** Addresses that run a script, read a file, or lead elsewhere than they look. */
const harmful: readonly string[] = [
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  ' javascript:alert(1)',
  'java\tscript:alert(1)',
  'java\nscript:alert(1)',
  '\u0001javascript:alert(1)',
  'javascript://shop.example/%0aalert(1)',
  'data:text/html,<script>alert(1)</script>',
  'data:text/html;base64,PHNjcmlwdD4=',
  'vbscript:msgbox(1)',
  'file:///etc/passwd',
  'blob:https://shop.example/0',
  'ftp://shop.example/',
  'ws://shop.example/',
  'about:blank',
  'view-source:https://shop.example/',
  'intent://shop.example/#Intent;end',
  '//attacker.example/',
  '/thanks',
  '\\\\attacker.example\\',
  'https:attacker.example',
  'https:///attacker.example',
  'https://shop.example\r\nSet-Cookie: a=b/',
  'https://shop.example\u0000/',
  'https://[::1',
  'https://shop.example:99999/',
  'https://%zz/',
  'https://',
]

/** Origins beside the one of the form, some of which look like it. */
const elsewhere: readonly string[] = [
  'https://attacker.example/',
  'https://shop.example.attacker.example/',
  'https://shop.example@attacker.example/',
  'https://attacker.example/https://shop.example/',
  'https://attacker.example#shop.example',
  'https://attacker.example\\@shop.example/',
  'https://shop.example:8443/',
  'http://shop.example/',
  'https://sub.shop.example/',
  'https://shop.example./',
  'https://shop\u0430.example/',
]

const isWeb = (address: string) => /^https?:\/\/[^/]/.test(address)

export const checkoutAddresses: Attack = {
  name: 'addresses',
  title:
    "open redirects and scripts as the merchant's page, a form's action, and in the shopper's address",
  async run(run) {
    const { url } = await run.ground.host()
    const merchants = await asMerchant(run, url)
    const forms = await asForm(run, url)
    const listed = await besideList(run, url)
    const shoppers = await asShopper(run, url)
    return { merchants, forms, listed, shoppers }
  },
}

/** As `shopperResultUrl` and `notificationUrl`, where a merchant's server passes them on. */
async function asMerchant({ ground, profile, find }: AttackRun, url: string): Promise<number> {
  const token = ground.tokens[0]!
  const all = triedOf(profile, harmful).flatMap((address) =>
    ['shopperResultUrl', 'notificationUrl'].flatMap((field) => [
      {
        address,
        field,
        request: post('/v1/checkouts', token, {
          ...basket,
          entityId: own.channel,
          [field]: address,
        }),
      },
      {
        address,
        field,
        request: post('/v1/payments', token, {
          ...debitFields,
          entityId: own.channel,
          [field]: address,
        }),
      },
    ]),
  )
  const answers = await askAll(
    url,
    all.map(({ request }) => request),
  )
  for (const [at, { status, body }] of answers.entries()) {
    const { address, field } = all[at]!
    if (status !== 400) find(`${field} may be ${JSON.stringify(address)}`, body)
    else if (!body.includes(field)) find(`${field} is refused without its name`, body)
  }
  return all.length
}

/** As the action of a form, in a checkout whose merchant named no page. */
async function asForm({ ground, profile, find }: AttackRun, url: string): Promise<number> {
  const token = ground.tokens[0]!
  const fields = { ...basket, entityId: own.channel }
  const [made] = await askAll(url, [post('/v1/checkouts', token, fields)])
  const id = String(JSON.parse(made!.body).id)
  const origin = 'https://shop.example'
  const forms = [
    ...triedOf(profile, [...harmful, ...elsewhere]).map((resultUrl) => ({ resultUrl, origin })),
    ...triedOf(profile, harmful).map((resultUrl) => ({ resultUrl, origin: resultUrl })),
    { resultUrl: 'https://attacker.example/' },
    { resultUrl: 'https://attacker.example/', origin: 'null' },
    { resultUrl: 'https://attacker.example/', origin: '*' },
  ]
  const answers = await askAll(
    url,
    forms.map((form) => press(id, { ...cardOf(), ...form })),
  )
  for (const [at, answer] of answers.entries()) {
    const { state, resultUrl } = pressed(answer)
    if (state !== 'invalid')
      find('a form leads away', `${JSON.stringify(forms[at])} ${answer.body}`)
    if (resultUrl !== undefined) find('a refused form is told a page', answer.body)
  }
  const state = await ask(url, get(`/v1/checkouts/${id}/state`))
  if (pressed(state).state !== 'free') find('a form with a harmful action paid', state.body)
  const right = { ...cardOf(), resultUrl: `${origin}/thanks`, origin }
  const paid = pressed(await ask(url, press(id, right)))
  if (!paid.resultUrl?.startsWith(`${origin}/thanks?id=`)) {
    find('the attack did not reach its target', JSON.stringify(paid))
  }
  return forms.length
}

/** Where the channel lists its origins, a page of another one shows no widget and gets no shopper. */
async function besideList({ ground, find }: AttackRun, url: string): Promise<number> {
  const listed = 'https://shop.example'
  const channel = await channelWith(ground, 'Listed origins', { widgetOrigins: [listed] })
  const [made] = await askAll(url, [
    post('/v1/checkouts', ground.tokens[1]!, { ...basket, entityId: channel }),
  ])
  const id = String(JSON.parse(made!.body).id)
  const origins = elsewhere.flatMap((address) => {
    try {
      return [new URL(address).origin]
    } catch {
      return []
    }
  })
  const forms = [...origins, 'null', '*', `${listed}/`, listed.toUpperCase()].map((origin) => ({
    origin,
    resultUrl: `${origin}/thanks`,
  }))
  for (const form of forms) {
    if (form.origin === listed) continue
    const answer = await ask(url, press(id, { ...cardOf(), ...form }))
    if (pressed(answer).state !== 'invalid') {
      find('an origin beside the list of the channel is taken', JSON.stringify(form))
    }
  }
  return forms.length
}

/** In everything that a shopper's browser sends beside a submission, the merchant's own page wins. */
async function asShopper({ ground, find }: AttackRun, url: string): Promise<number> {
  const token = ground.tokens[0]!
  const id = await openCheckout(url, token, own.channel)
  const away = 'https://attacker.example/'
  const query = new URLSearchParams({
    shopperResultUrl: away,
    resultUrl: away,
    url: away,
    next: away,
    redirect: away,
  })
  const headers = [
    ['X-Forwarded-Host', 'attacker.example'],
    ['X-Original-URL', away],
    ['Forwarded', 'host=attacker.example;proto=https'],
    ['Origin', 'https://attacker.example'],
    ['Referer', away],
  ] as const
  const look = async (path: string) => {
    const answer = await ask(url, requestBytes('GET', path, headers, undefined))
    const seen = `${[...answer.headers].join('\n')}\n${answer.body}`
    if (seen.includes('attacker.example')) find('an address of the request comes back', path)
    return answer
  }
  await look(`/v1/checkouts/${id}/page?${query}`)
  await look(`/v1/checkouts/${id}/state?${query}`)
  await look(`/v1/checkouts/${id}/widget?${query}`)
  await look(`/v1/paymentWidgets.js?checkoutId=${id}&${query}`)
  // The merchant named a page: that of the form is not even looked at.
  const form = { resultUrl: away, origin: 'https://attacker.example' }
  const answer = pressed(await ask(url, press(id, { ...cardOf(), ...form })))
  if (answer.resultUrl?.startsWith(`${shop}&id=`) !== true) {
    find("a form replaces the merchant's page", JSON.stringify(answer))
  }
  const page = await look(`/v1/checkouts/${id}/page?${query}`)
  const to = page.headers.get('location') ?? ''
  if (!isWeb(to) || !to.startsWith(shop)) find('a paid page leads elsewhere', to)
  return 6
}
