/**
 * Another merchant's ids reveal nothing: on every route of the endpoints table a foreign id is
 * answered exactly like an unknown one. Routes come from the table: a new one is tried
 * automatically, and an unsupported one fails this test until it is described here.
 */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fileTransfer from '@tollgate/file-transfer'
import { definePlugin } from '@tollgate/plugin-kit'
import { type Caller, newId } from '../../core/index.ts'
import { type Endpoint, endpoints, operationNamed } from '../../schemas/index.ts'
import { shapeOf } from '../attacks/foreign.ts'
import { type Answer, requestBytes, sendAll } from '../attacks/wire.ts'
import { type Hosted, startHost } from '../host/http/hosted.ts'
import { browser, scriptedAuthenticator } from '../rig/authenticator.ts'
import { closeChecked } from '../rig/books.ts'
import { until } from '../rig/gateway.ts'
import { cardOf } from '../rig/payment-request.ts'
import { newSshKey } from '../rig/ssh-keys.ts'
import { storePayout } from '../rig/stored-payouts.ts'

const tokenCount = 30
const idCount = 60
/** Tokens of a channel and of its merchant alternate. */
const levels = [0, 1]
const wire = { connections: 8, pipelined: 8, withinMs: 15_000 }

/** Texts in all resources of the other merchant, which must never be returned. */
const marks = ['Foreign Holder', 'foreign-order-4711', 'foreign clock', 'foreign-hook']
type Kind =
  | 'payment'
  | 'authentication'
  | 'registration'
  | 'checkout'
  | 'schedule'
  | 'clock'
  | 'record'
  | 'webhook'
  | 'event'
  | 'aggregation'
  | 'report'
  | 'destination'
  | 'sftpKey'
  | 'entity'
type Ids = Readonly<Record<Kind, readonly string[]>>

/** The kinds of ids in a path, by the preceding part. */
const kindOf: Readonly<Record<string, readonly Kind[]>> = {
  payments: ['payment'],
  threeDSecure: ['authentication'],
  registrations: ['registration'],
  checkouts: ['checkout'],
  schedules: ['schedule'],
  testclocks: ['clock'],
  query: ['payment', 'registration', 'schedule', 'record'],
  webhooks: ['webhook'],
  events: ['event'],
  aggregations: ['aggregation'],
  files: ['report'],
  reportdestinations: ['destination'],
  sftpkeys: ['sftpKey'],
}

/** Values of required parameters. */
const samples: Readonly<Record<string, string>> = {
  amount: '1.00',
  currency: 'EUR',
  paymentType: 'DB',
  url: 'https://127.0.0.1:9/',
  folderUrl: 'sftp://127.0.0.1:9/',
  'login.user': 'reports',
  publicKey: newSshKey().public,
  'date.from': '2026-03-01',
  'date.to': '2026-03-31',
}

const card = {
  paymentBrand: 'VISA',
  'card.number': '4200000000000000',
  'card.holder': 'Jane Jones',
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
}

const pinned = `SHA256:${'k'.repeat(43)}`

/** The other fields of a request that reaches its id. */
const sent: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'payments.create': { ...card, 'card.cvv': '123' },
  'registrations.create': card,
  'checkouts.create': { amount: '1.00', currency: 'EUR', paymentType: 'DB' },
  'checkouts.update': { amount: '2.00' },
  'threeDSecure.create': card,
  'query.search': { merchantTransactionId: 'foreign-order-4712' },
  'payments.followUp': { paymentType: 'RF', amount: '1.00', currency: 'EUR' },
  'registrations.update': { 'card.expiryMonth': '06', 'card.expiryYear': '2035' },
  'schedules.reschedule': { 'job.hour': '7' },
  'testClocks.advance': { by: 'PT1H' },
  'webhooks.replay': { from: '2026-01-01 00:00:00' },
  'reportDestinations.create': { 'login.password': 'secret', hostKey: pinned },
  'reportDestinations.replay': { fromNo: '1' },
}

/** Parameters that hold an id. */
const kindOfParameter: Readonly<Record<string, Kind>> = {
  registrationId: 'registration',
  'registrations[n].id': 'registration',
  testClock: 'clock',
  referenceUuid: 'payment',
  eventId: 'event',
  fileId: 'report',
  entityId: 'entity',
}

/** Fields that a parameter needs beside it. */
const beside: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  referenceUuid: { paymentType: 'PA', 'standingInstruction.industryPractice': 'INCREMENTAL_AUTH' },
}

/** Fields that exclude a parameter. */
const insteadOf: Readonly<Record<string, string>> = { eventId: 'from', fileId: 'fromNo' }

/** One way to pass an id to the gateway. `own`: the resources of the token's owner. */
type Way = {
  readonly name: string
  readonly endpoint: Endpoint
  readonly route: string
  readonly kinds: readonly Kind[]
  request(id: string, own: Ids): { readonly id: string; readonly form: string }
}

/** The request on the wire. */
function bytesOf({ endpoint, route, request }: Way, token: string, id: string, own: Ids): Buffer {
  const { method } = endpoint
  const { id: named, form } = request(id, own)
  const path = route.replace('{id}', named)
  const login = ['Authorization', `Bearer ${token}`] as const
  if (method !== 'POST') {
    return requestBytes(method, form === '' ? path : `${path}?${form}`, [login], undefined)
  }
  const type = ['Content-Type', 'application/x-www-form-urlencoded'] as const
  return requestBytes(method, path, [login, type], Buffer.from(form))
}

/** The same request, as the host passes it to the engine. */
async function askEngine(
  { gateway }: Hosted,
  { endpoint, route, request }: Way,
  caller: Caller,
  id: string,
  own: Ids,
): Promise<Answer> {
  const { id: named, form } = request(id, own)
  const isPost = endpoint.method === 'POST'
  const reply = await gateway.call(endpoint.operation, caller, {
    route,
    path: { id: named },
    requestId: newId(),
    ...(isPost
      ? { body: Buffer.from(form), contentType: 'application/x-www-form-urlencoded' }
      : { query: form }),
  })
  return {
    status: reply.status,
    headers: new Map(Object.entries(reply.headers)),
    body: JSON.stringify(reply.body),
  }
}

/** The required fields of an operation, from the samples and from the caller's resources. */
function fieldsOf({ operation, path, required = [] }: Endpoint, own: Ids): Record<string, string> {
  // A creation names its entity.
  const isNamed =
    (!path.includes('{') || path.endsWith('/payments')) && takes(operation, 'entityId')
  const fields: Record<string, string> = isNamed ? { entityId: own.entity[0]! } : {}
  for (const name of required) {
    const kind = kindOfParameter[name]
    const value = kind === undefined ? samples[name] : own[kind][0]
    assert.ok(value !== undefined, `${operation} requires ${name}: give this test a sample of it`)
    fields[name] = value
  }
  return { ...fields, ...sent[operation] }
}

const takes = (operation: string, name: string) =>
  operationNamed(operation).fields.some((field) => field.name === name)

const nounOf = (path: string) => /\/([^/{]+)\/\{id\}/.exec(path)?.[1] ?? ''
const formOf = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

function waysOf(endpoint: Endpoint): Way[] {
  const { method, path, alsoPaths = [], operation, login } = endpoint
  if (login !== 'token') return []
  const byPath = [path, ...alsoPaths]
    .filter((one) => one.includes('{'))
    .map((route): Way => {
      const kinds = kindOf[nounOf(route)]
      assert.ok(
        kinds !== undefined,
        `${route}: tell this test the kind of its ids, and create some`,
      )
      return {
        name: `${method} ${route}`,
        endpoint,
        route,
        kinds,
        request: (id, own) => ({ id, form: formOf(fieldsOf(endpoint, own)) }),
      }
    })
  const byParameter = operationNamed(operation).fields.flatMap(({ name }): Way[] => {
    const kind = kindOfParameter[name]
    if (kind === undefined) return []
    // The path holds an id of the caller, so that only the parameter is foreign.
    const named = kindOf[nounOf(path)]?.[0] ?? 'payment'
    return [
      {
        name: `${method} ${path} ${name}`,
        endpoint,
        route: path,
        kinds: [kind],
        request: (id, own) => {
          const parameter = { [name.replace('[n]', '[0]')]: id }
          const fields: Record<string, string> = {
            ...fieldsOf(endpoint, own),
            ...beside[name],
            ...parameter,
          }
          delete fields[insteadOf[name] ?? '']
          return { id: own[named][0]!, form: formOf(fields) }
        },
      },
    ]
  })
  return [...byPath, ...byParameter]
}

const ways = endpoints.filter(({ login }) => login === 'token').flatMap(waysOf)

/** Creates a merchant's resources, each with the marks in it. */
async function stock(run: Hosted, channel: string, merchant: string, count: number): Promise<Ids> {
  const { gateway } = run
  const times = <T>(share: number, make: (no: number) => Promise<T>) =>
    Promise.all(Array.from({ length: Math.ceil(count * share) }, (_, no) => make(no)))
  const card = cardOf('4200000000000000', { holder: marks[0]! })
  const made = { entityId: channel, merchantTransactionId: marks[1]! }
  const charge = { ...made, amount: '12.00', currency: 'EUR', paymentType: 'DB' }
  const payment = await times(0.3, async (no) => {
    const paymentType = no % 2 === 0 ? 'DB' : 'PA'
    const request = { ...charge, paymentType, paymentBrand: 'VISA', card }
    return (await gateway.payments.create(request as never)).id
  })
  const authentication = await times(0.05, async () => {
    const request = { ...charge, paymentType: '3D', paymentBrand: 'VISA', card, ...browser }
    return (await gateway.threeDSecure.create(request as never)).id
  })
  const registration = await times(0.3, async () => {
    const request = { ...made, paymentBrand: 'VISA', card }
    return (await gateway.registrations.create(request as never)).id
  })
  const checkout = await times(0.2, async () => {
    const shopper = { givenName: marks[0]!, surname: 'Other' }
    const request = { ...charge, customer: shopper }
    return (await gateway.checkouts.create(request as never)).id
  })
  // One for each registration, so that every registration leads to one.
  const schedule = await times(0.3, async (no) => {
    const request = { ...charge, registrationId: registration[no], job: { hour: '6' } }
    return (await gateway.schedules.create(request as never)).id
  })
  const clock = await times(0.1, async () => {
    const request = { entityId: merchant, time: '2026-01-01 00:00:00', name: marks[2]! }
    return (await gateway.testClocks.create(request as never)).id
  })
  const record = await times(0.05, async (no) => {
    await gateway.registrations.extend(registration.at(-1 - no)!)
    const linked = await gateway.query.linked(registration.at(-1 - no)!)
    return linked.find(({ paymentType }) => paymentType === 'TE')!.id
  })
  const webhook = await times(0.05, async (no) => {
    const url = `https://127.0.0.1:9/${marks[3]!}-${no}`
    return (await gateway.webhooks.create({ entityId: merchant, url })).id
  })
  const events = await run.sql(
    'select id from tollgate.event where channel_id = $1::uuid and type = $3 order by id limit $2',
    [channel, Math.ceil(count * 0.2), 'payment.approved'],
  )
  const event = events.map(({ id }) => String(id).replaceAll('-', ''))
  const aggregation: string[] = []
  const report: string[] = []
  for (let no = 0; no < Math.ceil(count * 0.1); no += 1) {
    const owner = { holder: marks[0]!, reference: marks[1]! }
    aggregation.push((await storePayout(run, { channel, merchant }, owner)).id)
    // A file waits for the end of older transactions, and tests beside this one share the cluster.
    report.push(
      ...(await until(async () => {
        const made = await gateway.reports.cut({ entityId: merchant })
        return made.length > 0 ? made.map(({ id }) => id) : undefined
      })),
    )
  }
  // After the files, so that nothing waits for these folders.
  const destination: string[] = []
  const sftpKey: string[] = []
  for (let no = 0; no < 5; no += 1) {
    const made = await gateway.reportDestinations.create({
      entityId: merchant,
      folderUrl: `sftp://127.0.0.1:9/${marks[3]!}-${no}`,
      login: { user: marks[0]!, password: 'secret' },
      hostKey: pinned,
    })
    destination.push(made.id)
    const key = { entityId: merchant, publicKey: newSshKey().public, name: marks[2]! }
    sftpKey.push((await gateway.servedFiles.createKey(key)).id)
  }
  return {
    aggregation,
    report,
    payment,
    authentication,
    registration,
    checkout,
    schedule,
    clock,
    record,
    webhook,
    event,
    destination,
    sftpKey,
    entity: [channel, merchant],
  }
}

describe('ids of another merchant', () => {
  let run: Hosted
  let own: Ids
  let foreign: Ids
  let foreignToken: string
  const tokens: string[] = []

  before(async () => {
    const authenticators = [scriptedAuthenticator().authenticator]
    const plugin = definePlugin({ name: 'three', contract: 1, authenticators })
    run = await startHost({}, { plugins: [plugin, fileTransfer] })
    const { entities } = run.gateway
    await entities.configure(run.psp, { threeDSecure: 'on' })
    const merchant = await entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const channel = await entities.create({ kind: 'channel', name: 'Other', parentId: merchant })
    for (let no = 0; no < tokenCount; no += 1) {
      const node = no % levels.length === 0 ? run.channel : run.merchant
      tokens.push((await entities.createToken(node, `token ${no}`)).token)
    }
    foreignToken = (await entities.createToken(merchant, 'other')).token
    own = await stock(run, run.channel, run.merchant, 20)
    foreign = await stock(run, channel, merchant, idCount)
  })
  after(() => closeChecked(run))

  test('every route that takes an id is tried with a foreign one', () => {
    for (const { operation, path, alsoPaths = [], login } of endpoints) {
      for (const one of [path, ...alsoPaths]) {
        if (!one.includes('{')) continue
        // A route without a login has no caller: messages of acquirers name their own account, and
        // returns of shoppers bring the token of the one payment, as pages of plugins do.
        // The id of a checkout is the proof itself, and files of the widget are the same for everyone.
        if (login === 'none') assert.match(operation, /^(connectors\.event(ByGet)?|widget\.asset)$/)
        else if (login === 'return') assert.match(operation, /^(?:returns|pages)\./)
        else if (login === 'checkout') assert.match(operation, /^(checkouts|widget)\./)
        else
          assert.ok(
            ways.some(({ name }) => name.endsWith(` ${one}`)),
            one,
          )
      }
    }
    assert.equal(new Set(ways.map(({ name }) => name)).size, ways.length)
  })

  test('a foreign id is answered like an unknown one on every route', async () => {
    const unknown = await overTheWire(ways.flatMap((way) => levels.map((no) => ({ way, no }))))
    const tries = ways.flatMap((way) => {
      const ids = way.kinds.flatMap((kind) => foreign[kind])
      return tokens
        .keys()
        .toArray()
        .map((no) => ({ way, no, id: ids[no % ids.length]! }))
    })
    const answers = await overTheWire(tries)
    const expected = (way: Way, no: number) => {
      const answer = unknown[ways.indexOf(way) * levels.length + (no % levels.length)]!
      assert.ok([200, 400, 403, 404].includes(answer.status), `${way.name} ${answer.status}`)
      return shapeOf(answer, nobodys(way))
    }
    const differences = tries.flatMap(({ way, no, id }, at) =>
      differenceOf(way, answers[at]!, id, expected(way, no)),
    )
    assert.deepEqual(differences.slice(0, 5), [])
  })

  test('no token learns or moves anything by any foreign id', async () => {
    const state = await stateOf(run, foreign.entity[0]!)
    const callers = await Promise.all(
      tokens.map((token) => run.gateway.authenticate(`Bearer ${token}`)),
    )
    const differences: string[] = []
    let pairs = 0
    for (const way of ways) {
      const expected = await Promise.all(
        levels.map(async (level) => {
          const answer = await askEngine(run, way, callers[level]!, nobodys(way), own)
          return shapeOf(answer, nobodys(way))
        }),
      )
      const ids = idsOf(way)
      pairs += ids.length
      await eachOf(ids, async ({ no, id }) => {
        const answer = await askEngine(run, way, callers[no]!, id, own)
        differences.push(...differenceOf(way, answer, id, expected[no % levels.length]!))
      })
    }
    assert.deepEqual(differences.slice(0, 5), [])
    assert.ok(pairs >= tokenCount * idCount, String(pairs))
    assert.equal(await stateOf(run, foreign.entity[0]!), state)
  })

  test('the owner of the id gets another answer: each of these requests reaches its id', async () => {
    const caller = await run.gateway.authenticate(`Bearer ${foreignToken}`)
    // Ids in parameters first, then ids in paths, then removals.
    const rank = ({ endpoint, name }: Way) =>
      endpoint.method === 'DELETE' ? 2 : name.endsWith(' eventId') ? 0 : 1
    const ordered = ways.toSorted((one, other) => rank(one) - rank(other))
    for (const [turn, way] of ordered.entries()) {
      const unknown = await askEngine(run, way, caller, nobodys(way), foreign)
      for (const kind of way.kinds) {
        // A request changes its resource for later ones, so each takes another id.
        const ids = foreign[kind]
        const id = ids[turn % ids.length]!
        const answer = await askEngine(run, way, caller, id, foreign)
        const told = `${way.name} ${kind}: ${answer.body}`
        assert.notEqual(shapeOf(answer, id), shapeOf(unknown, nobodys(way)), told)
      }
    }
  })

  /** An unknown id from the time of the foreign ones, so that the two do not differ by age. */
  function nobodys({ kinds }: Way): string {
    const [checkout = ''] = kinds[0] === 'checkout' ? foreign.checkout : []
    if (checkout !== '') return `${checkout.slice(0, 12)}7FEDCBA9876543210123${checkout.slice(32)}`
    return `${foreign[kinds[0]!][0]!.slice(0, 12)}7fedcba9876543210123`
  }

  function overTheWire(
    tries: readonly { readonly way: Way; readonly no: number; readonly id?: string }[],
  ): Promise<Answer[]> {
    const requests = tries.map(({ way, no, id = nobodys(way) }) =>
      bytesOf(way, tokens[no]!, id, own),
    )
    return sendAll(run.url, requests, wire)
  }

  function differenceOf(way: Way, answer: Answer, id: string, expected: string): string[] {
    const shape = shapeOf(answer, id)
    const told = marks.find((mark) => answer.body.includes(mark))
    if (told !== undefined) return [`${way.name} gives ${told}`]
    return shape === expected ? [] : [`${way.name}\n→ ${shape}\n→ ${expected}`]
  }

  /**
   * The pairs of token and foreign id for this way: the ways of a kind alternate, so that together
   * they try every pair, and each way uses every token and every id.
   */
  function idsOf(way: Way): { no: number; id: string }[] {
    return way.kinds.flatMap((kind) => {
      const fitting = ways.filter(({ kinds }) => kinds.includes(kind))
      const turns = Math.min(fitting.length, foreign[kind].length)
      const turn = fitting.indexOf(way) % turns
      return tokens.flatMap((_, no) =>
        foreign[kind]
          .filter((_, at) => (at + (no >> 1)) % turns === turn)
          .map((id) => ({ no, id })),
      )
    })
  }
})

/** Runs `work` for each, a few at once. */
async function eachOf<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const waiting = all.values()
  const worker = async () => {
    for (const one of waiting) await work(one)
  }
  await Promise.all(Array.from({ length: 32 }, worker))
}

/** All rows of a channel that a request could change. */
async function stateOf({ sql }: Hosted, channel: string): Promise<string> {
  const rows = await sql(
    `select md5(string_agg(line, '|' order by line)) as digest from (
       select concat_ws(' ', id, state, seq) as line from tollgate.payment where channel_id = $1
       union all select concat_ws(' ', id, removed_at, seq, request) from tollgate.registration where channel_id = $1
       union all select concat_ws(' ', id, cancelled_at, next_at, seq, expression) from tollgate.schedule where channel_id = $1
       union all select concat_ws(' ', c.id, c.at, c.target, c.name) from tollgate.test_clock c
         join tollgate.entity e on e.id = $1 and e.parent_id = c.entity_id
       union all select concat_ws(' ', id, version, payment_id, removed_at, request) from tollgate.checkout
         where entity_id = $1
       union all select concat_ws(' ', id, version) from tollgate.settlement_record where entity_id = $1
       union all select concat_ws(' ', f.id, f.no) from tollgate.report_file f
         join tollgate.entity e on e.id = $1 and e.parent_id = f.entity_id
       union all select concat_ws(' ', id, type) from tollgate.record where channel_id = $1) lines`,
    [channel],
  )
  return JSON.stringify(rows)
}
