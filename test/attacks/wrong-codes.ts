/**
 * Wrong security codes on one card with every variation that might evade the count: at most ten
 * reach the acquirer.
 */
import type { Attack, AttackRun } from './attack.ts'
import { foreign, own } from './ground.ts'
import type { Host } from './host.ts'
import { wrongWith } from './judge.ts'
import { cardNumber, codeOf, debitFields } from './payments.ts'
import { post, sendAll } from './wire.ts'

const most = 10
/** The simulator declines with this reason when the holder has this name. */
const wrongCode = '800.100.153'
/** A process that was delayed too long sends nothing. */
const notSent = '900.100.600'

type Way = {
  readonly name: string
  /** Paths and fields of one attempt. */
  readonly path?: string
  more?(no: number): Readonly<Record<string, string>>
  headers?(no: number): readonly (readonly [string, string])[]
  /** An approved payment of another card follows each attempt. */
  readonly between?: boolean
}

const ways: readonly Way[] = [
  { name: 'the same again' },
  { name: 'other amounts', more: (no) => ({ amount: `${no + 1}.00` }) },
  { name: 'other addresses', more: (no) => ({ 'customer.ip': `8.${no}.4.4` }) },
  { name: 'other expiries', more: (no) => ({ 'card.expiryYear': String(2030 + (no % 9)) }) },
  { name: 'preauthorisations', more: () => ({ paymentType: 'PA' }) },
  { name: 'stored with the payment', more: () => ({ createRegistration: 'true' }) },
  { name: 'Idempotency-Keys', headers: (no) => [['Idempotency-Key', `codes-${no}`]] },
  { name: 'between approvals', between: true },
  { name: 'registrations', path: '/v1/registrations' },
]

export const wrongCodes: Attack = {
  name: 'codes',
  title: 'two hundred security codes on one card in every way, by several tokens and two processes',
  async run(run) {
    const codes = run.profile === 'full' ? 200 : 30
    const settings = {
      TOLLGATE_CARD_TESTING_NUMBER: String(most),
      TOLLGATE_DEMO: 'false',
    }
    const hosts = [await run.ground.another(settings)]
    try {
      hosts.push(await run.ground.another(settings))
      let refused = 0
      let carriedOut = 0
      for (const way of ways) {
        const { throttled, declined } = await tryAll(run, hosts, way, codes)
        refused += throttled
        carriedOut += declined
        // Each process passes its own ten until it learns of the other's.
        const allowed = most * hosts.length
        if (declined > allowed)
          run.find(`more codes tried than allowed: ${way.name}`, String(declined))
        if (declined === 0) run.find(`nothing reached the acquirer: ${way.name}`, '')
      }
      return { ways: ways.length, codes, carriedOut, refused }
    } finally {
      for (const host of hosts) await host.close()
    }
  },
}

async function tryAll(
  { ground, random, find }: AttackRun,
  hosts: readonly Host[],
  way: Way,
  codes: number,
) {
  const number = cardNumber(`42${random.digits(13)}`)
  const requestsOf = (process: number) =>
    Array.from({ length: codes }, (_, no) => no)
      .filter((no) => no % hosts.length === process)
      .flatMap((no) => [
        tryOf(way, no, number, ground.tokens),
        ...(way.between ? [good(ground.tokens)] : []),
      ])
  const sendTo = (host: Host, process: number) =>
    sendAll(host.url, requestsOf(process), { connections: 10, pipelined: 2, withinMs: 60_000 })
  const answers = (await Promise.all(hosts.map(sendTo))).flat()
  let declined = 0
  let throttled = 0
  for (const answer of answers) {
    const wrong = wrongWith(answer)
    if (wrong !== undefined) find(wrong, answer.body)
    const code = codeOf(answer)
    if (code === wrongCode) declined += 1
    else if (answer.status === 429) {
      throttled += 1
      if (code !== '800.120.100') find('429 with another code', answer.body)
      if (!(Number(answer.headers.get('retry-after')) >= 1)) find('429 without Retry-After', '')
    } else if (answer.status !== 200 && code !== notSent) find('another answer', answer.body)
  }
  // Attempts at one merchant refuse nobody at another, not even the same card.
  const [bystander] = await sendAll(
    hosts[0]!.url,
    [
      post('/v1/payments', ground.foreignToken, {
        ...debitFields,
        entityId: foreign.channel,
        'card.number': number,
      }),
    ],
    { connections: 1, pipelined: 1, withinMs: 60_000 },
  )
  if (bystander?.status !== 200)
    find("another merchant's shopper is refused", bystander?.body ?? '')
  return { throttled, declined }
}

function tryOf(way: Way, no: number, number: string, tokens: readonly string[]): Buffer {
  const isRegistration = way.path !== undefined
  const { amount, currency, paymentType, ...account } = debitFields
  return post(
    way.path ?? '/v1/payments',
    tokens[no % 20]!,
    {
      ...account,
      ...(isRegistration
        ? {}
        : { amount: amount!, currency: currency!, paymentType: paymentType! }),
      entityId: own.channel,
      'card.number': number,
      'card.holder': wrongCode,
      'card.cvv': String(no).padStart(3, '0'),
      ...way.more?.(no),
    },
    way.headers?.(no) ?? [],
  )
}

const good = (tokens: readonly string[]): Buffer =>
  post('/v1/payments', tokens[0]!, { ...debitFields, entityId: own.channel })
