import { endpoints } from '../../schemas/index.ts'
import type { Attack, AttackRun } from './attack.ts'
import { foreign, own, tokenCount } from './ground.ts'
import { wrongWith } from './judge.ts'
import { debitFields, pay } from './payments.ts'
import { type Answer, get, post, requestBytes, sendAll } from './wire.ts'

/** One request of a token, sent once with another merchant's id and once with an unknown id. */
type Try = { readonly route: string; request(token: string, id: string): Buffer }

const followUps = ['CP', 'RF', 'RV', 'RB', 'RC', 'CB', 'CR', 'PA'] as const
const followUp = (type: string) => ({ paymentType: type, amount: '1.00', currency: 'EUR' })

/** All routes of the endpoints table that need a token, with ids in the path and in the body. */
function triesOf(kind: 'payment' | 'entity'): Try[] {
  return endpoints
    .filter(({ login }) => login === 'token')
    .flatMap(({ method, path, operation, accepts }): Try[] => {
      const hasId = path.includes('{id}')
      const at = (id: string) => path.replace('{id}', id)
      if (kind === 'payment' && hasId) {
        if (method !== 'POST') {
          const bytes = (token: string, id: string) =>
            requestBytes(method, at(id), [['Authorization', `Bearer ${token}`]], undefined)
          return [{ route: `${method} ${path}`, request: bytes }]
        }
        return followUps.map((type) => ({
          route: `${method} ${path} ${type}`,
          request: (token, id) => post(at(id), token, followUp(type)),
        }))
      }
      if (kind === 'payment' && operation === 'payments.create') {
        const fields = (id: string) => ({
          ...debitFields,
          entityId: own.channel,
          paymentType: 'PA',
          'standingInstruction.industryPractice': 'INCREMENTAL_AUTH',
          referenceUuid: id,
        })
        return [
          {
            route: `${method} ${path} referenceUuid`,
            request: (token, id) => post(path, token, fields(id)),
          },
        ]
      }
      if (kind !== 'entity' || accepts.length === 0) return []
      const nobody = '0'.repeat(32)
      if (method === 'GET') {
        return [
          {
            route: `${method} ${path} entityId`,
            request: (token, id) => get(`${at(nobody)}?entityId=${id}`, token),
          },
        ]
      }
      const fields = hasId ? followUp('RF') : debitFields
      return [
        {
          route: `${method} ${path} entityId`,
          request: (token, id) => post(at(nobody), token, { ...fields, entityId: id }),
        },
      ]
    })
}

/** Texts of the other merchant's payments, which no other merchant may receive. */
const marks = ['Foreign Holder', 'foreign-order-4711', '4321987654321']

export const foreignIds: Attack = {
  name: 'foreign',
  title: `ids of another merchant, by ${tokenCount} tokens on every route`,
  async run(run) {
    const { ground } = run
    const host = await ground.host()
    const theirs = await Promise.all(
      ['DB', 'PA'].map((paymentType) =>
        pay(host.url, ground.foreignToken, {
          entityId: foreign.channel,
          paymentType,
          'card.holder': marks[0]!,
          merchantTransactionId: marks[1]!,
          'customer.givenName': 'Mary',
          'customer.surname': 'Foreign',
          'customer.phone': marks[2]!,
        }),
      ),
    )
    const tokens = run.profile === 'full' ? ground.tokens : ground.tokens.slice(0, 20)
    const unknown = theirs[0]!.slice(0, 12) + run.random.text('0123456789abcdef', 20)
    const pairs = [
      ...triesOf('payment').flatMap((one) => theirs.map((id) => [one, id, unknown] as const)),
      ...triesOf('entity').map((one) => [one, foreign.channel, 'f'.repeat(32)] as const),
      ...triesOf('entity').map((one) => [one, foreign.merchant, 'f'.repeat(32)] as const),
    ]
    const before = await stateOf(run)
    let compared = 0
    for (const [{ route, request }, foreignId, unknownId] of pairs) {
      const requests = tokens.flatMap((token) => [
        request(token, foreignId),
        request(token, unknownId),
      ])
      const answers = await sendAll(host.url, requests, wire)
      for (let at = 0; at < answers.length; at += 2) {
        compared += 1
        judge(run, route, requests[at]!, answers[at]!, foreignId, answers[at + 1]!, unknownId)
      }
    }
    const after = await stateOf(run)
    if (after !== before) run.find("the other merchant's payments changed", after)
    const keys = await foreignKeys(run, host.url)
    return { tokens: tokens.length, routes: pairs.length, compared, 'idempotency keys': keys }
  },
}

const wire = { connections: 8, pipelined: 8, withinMs: 60_000 }

/** The state of the other merchant's payments, which the attack must not change. */
async function stateOf({ ground }: AttackRun): Promise<string> {
  const rows = await ground.sql(
    `select p.id, p.state, p.seq, b.captured, b.refunded, b.reversed, b.capturing, b.refunding, b.reversing
       from tollgate.payment p left join tollgate.payment_balance b on b.payment_id = p.id
      where p.channel_id = $1 order by p.id`,
    [foreign.channel],
  )
  return JSON.stringify(rows)
}

function judge(
  run: AttackRun,
  route: string,
  request: Buffer,
  theirs: Answer,
  foreignId: string,
  nobodys: Answer,
  unknownId: string,
): void {
  const sent = request.toString()
  for (const answer of [theirs, nobodys]) {
    const wrong = wrongWith(answer)
    if (wrong !== undefined) run.find(`${route}: ${wrong}`, sent)
  }
  if (theirs.status === 200) run.find(`${route}: a foreign id is accepted`, sent)
  for (const mark of marks) {
    if (theirs.body.includes(mark)) run.find(`${route}: data of another merchant comes back`, sent)
  }
  const one = shapeOf(theirs, foreignId)
  const other = shapeOf(nobodys, unknownId)
  if (one !== other) {
    run.find(
      `${route}: a foreign id is answered otherwise than an unknown one`,
      `${sent}\n→ ${one}\n→ ${other}`,
    )
  }
}

/**
 * An answer without its own ids and times, and without the id that was sent, whose long runs of
 * digits return masked.
 */
export function shapeOf({ status, headers, body }: Answer, sentId: string): string {
  const plain = body
    .replaceAll(sentId, '<sent>')
    .replaceAll(/"value":"[^"]*"/g, '"value":"<sent>"')
    .replaceAll(/"(id|ndc)":"[0-9a-f]{32}"/g, '"$1":"<id>"')
    .replaceAll(/"timestamp":"[^"]*"/g, '"timestamp":"<time>"')
  return `${status} ${[...headers.keys()].sort().join()} ${plain}`
}

/** The same Idempotency-Key sent by another merchant makes a payment of its own. */
async function foreignKeys({ ground, random, find }: AttackRun, url: string): Promise<number> {
  const keys = Array.from({ length: 20 }, () => random.text('0123456789abcdef', 16))
  const ids: string[][] = []
  for (const [token, entityId] of [
    [ground.foreignToken, foreign.channel],
    [ground.tokens[0]!, own.channel],
  ] as const) {
    const requests = keys.map((key) =>
      post('/v1/payments', token, { ...debitFields, entityId, 'card.holder': marks[0]! }, [
        ['Idempotency-Key', key],
      ]),
    )
    const answers = await sendAll(url, requests, wire)
    for (const answer of answers) {
      if (answer.status !== 200)
        find('an idempotency key of another merchant blocks a payment', answer.body)
    }
    ids.push(answers.map(({ body }) => String((JSON.parse(body) as { id?: string }).id)))
  }
  const [theirs = [], ours = []] = ids
  for (const [at, id] of ours.entries()) {
    if (id === theirs[at]) find("an idempotency key gives another merchant's payment", keys[at]!)
  }
  return keys.length
}
