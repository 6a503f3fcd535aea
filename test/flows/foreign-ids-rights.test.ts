/**
 * A token with one right grants no other: on every route of the endpoints table, for every right
 * and every payment type, a token without the right is answered with 403 and the right's name, and
 * nothing is written. Routes, rights and types come from the tables.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Gateway } from '../../core/index.ts'
import {
  type Endpoint,
  endpoints,
  neededRights,
  operationNamed,
  paymentTypes,
  type RightName,
  scheduledPaymentTypes,
  tokenRights,
} from '../../schemas/index.ts'
import { type Answer, requestBytes, sendAll } from '../attacks/wire.ts'
import { type Hosted, startHost } from '../host/http/hosted.ts'
import { closeChecked } from '../rig/books.ts'
import { until } from '../rig/gateway.ts'
import { cardOf } from '../rig/payment-request.ts'
import { newSshKey } from '../rig/ssh-keys.ts'

const wire = { connections: 8, pipelined: 8, withinMs: 15_000 }

const card = {
  paymentBrand: 'VISA',
  'card.number': '4200000000000000',
  'card.holder': 'Jane Jones',
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
}
const amount = { amount: '1.00', currency: 'EUR' }

/** The other fields of a complete request. */
const sent: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'payments.create': { ...card, ...amount, 'card.cvv': '123' },
  'payments.followUp': amount,
  'checkouts.create': amount,
  'registrations.create': card,
  'registrations.pay': amount,
  'registrations.update': { 'card.expiryMonth': '06', 'card.expiryYear': '2035' },
  'schedules.create': { ...amount, 'job.hour': '6' },
  'schedules.preview': { 'job.hour': '6' },
  'schedules.reschedule': { 'job.hour': '7' },
  'query.search': { merchantTransactionId: 'nobody' },
  'testClocks.advance': { by: 'PT1H' },
  'webhooks.create': { url: 'https://127.0.0.1:9/' },
  'webhooks.replay': { from: '2026-01-01 00:00:00' },
  'reportDestinations.replay': { fromNo: '1' },
  'sftpKeys.create': { publicKey: newSshKey().public },
}

type Ids = Readonly<Record<string, string>>

/** The payment types of a changed schedule, and of a removed checkout. */
const schedules = ['DB', 'CD'] as const
const ofResources = ['schedules', 'checkouts']

/** One request that needs exactly one right. */
type Case = {
  readonly name: string
  readonly right: RightName
  readonly endpoint: Endpoint
  readonly route: string
  readonly fields: Readonly<Record<string, string>>
  /** The kind of id in the path. */
  readonly noun: string
}

const rightOf = (code: string) => paymentTypes.find((type) => type.code === code)!.right
const nounOf = (path: string) => /\/([^/{]+)\/\{id\}/.exec(path)?.[1] ?? ''

function casesOf(endpoint: Endpoint): Case[] {
  const { method, path, alsoPaths = [], operation, right } = endpoint
  return [path, ...alsoPaths].flatMap((route): Case[] => {
    const fields = sent[operation] ?? {}
    const plain = { name: `${method} ${route}`, endpoint, route, fields, noun: nounOf(route) }
    if (right !== 'by payment type') return [{ ...plain, right: right as RightName }]
    if (operationNamed(operation).fields.some(({ name }) => name === 'paymentType')) {
      return typesFor(operation).map((paymentType) => ({
        ...plain,
        name: `${plain.name} ${paymentType}`,
        right: rightOf(paymentType),
        fields: { ...fields, paymentType },
        // A change needs the right of what the checkout is as well.
        noun:
          operation === 'checkouts.update'
            ? `checkouts ${rightOf(paymentType) === 'payout' ? 'CD' : 'DB'}`
            : plain.noun,
      }))
    }
    // The payment type of the resource in the path, because the request does not name it.
    assert.ok(ofResources.includes(plain.noun), `${route}: tell this test its payment type`)
    return schedules.map((code) => ({
      ...plain,
      name: `${plain.name} of ${code}`,
      right: rightOf(code),
      noun: `${plain.noun} ${code}`,
    }))
  })
}

function typesFor(operation: string): readonly string[] {
  if (operation === 'schedules.create') return scheduledPaymentTypes
  const use = operation === 'payments.followUp' ? 'followUp' : 'payment'
  return paymentTypes.filter((type) => type.use === use).map(({ code }) => code)
}

const cases = endpoints.filter(({ login }) => login === 'token').flatMap(casesOf)

/** A list for everybody, and checkouts by their ids. */
const answeredWithoutToken: ReadonlySet<string> = new Set([
  'resultCodes.list',
  'checkouts.pay',
  'checkouts.register',
  'checkouts.state',
  'checkouts.walletSession',
  'checkouts.widget',
])

describe('rights of tokens', () => {
  let run: Hosted
  let own: Ids
  let keys = 0
  const only = new Map<RightName, string>()
  const allBut = new Map<RightName, string>()
  /** Routes that need a second right. */
  const both = new Map<string, string>()
  const enough = ({ right, endpoint: { also } }: Case) =>
    also === undefined ? only.get(right)! : both.get(`${right},${also.right}`)!

  before(async () => {
    run = await startHost()
    const { entities } = run.gateway
    for (const right of tokenRights) {
      const others = tokenRights.filter((other) => other !== right)
      const make = async (rights: readonly string[]) =>
        (await entities.createToken(run.channel, rights.join(), { rights })).token
      only.set(right, await make([right]))
      allBut.set(right, await make(others))
    }
    for (const { right, endpoint } of cases) {
      if (endpoint.also === undefined) continue
      const pair = [right, endpoint.also.right]
      if (!both.has(pair.join()))
        both.set(
          pair.join(),
          (await entities.createToken(run.channel, pair.join(), { rights: pair })).token,
        )
    }
    // An ended process writes nothing more, such as steps.
    const stocking = await run.another({ role: 'api' })
    own = await stock(run, stocking)
    await stocking.close()
  })
  after(() => closeChecked(run))

  test('every operation with a token states its right, and the engine enforces it', () => {
    for (const endpoint of endpoints) {
      const needed = neededRights(endpoint)
      assert.equal(needed.length > 0, endpoint.login === 'token', endpoint.operation)
      // The host's own operations bypass the engine and its check of rights.
      assert.equal(
        run.gateway.answers(endpoint.operation),
        answeredWithoutToken.has(endpoint.operation) || endpoint.login === 'token',
        endpoint.operation,
      )
    }
    for (const right of tokenRights)
      assert.ok(
        cases.some((one) => one.right === right),
        right,
      )
  })

  test('a token without the right is refused with its name on every route, and nothing is written', async () => {
    const before = await stateOf(run)
    const tries = cases.flatMap((one) =>
      [
        allBut.get(one.right)!,
        ...tokenRights.filter((right) => right !== one.right).map((right) => only.get(right)!),
      ].map((token) => ({ one, token })),
    )
    const answers = await sendAll(
      run.url,
      tries.map(({ one, token }) => bytesOf(one, token)),
      wire,
    )
    const wrong = tries.flatMap(({ one }, at) => {
      const { status, body } = answers[at]!
      const { result } = JSON.parse(body) as { result: { code: string; description: string } }
      const isNamed = new RegExp(`needs the right .*\\b${one.right}\\b`).test(result.description)
      return status === 403 && result.code === '800.900.301' && isNamed
        ? []
        : [`${one.name}: ${status} ${body}`]
    })
    assert.deepEqual(wrong.slice(0, 5), [])
    assert.ok(tries.length > 200, String(tries.length))
    assert.deepEqual(await stateOf(run), before)
  })

  test('a token with that right alone gets as far as one with all', async () => {
    // Removals come last.
    const ordered = cases.toSorted(
      (one, other) =>
        Number(one.endpoint.method === 'DELETE') - Number(other.endpoint.method === 'DELETE'),
    )
    const answers: Answer[] = []
    for (const one of ordered) {
      answers.push(...(await sendAll(run.url, [bytesOf(one, enough(one))], wire)))
    }
    const forbidden = ordered.flatMap((one, at) =>
      [400, 404, 200].includes(answers[at]!.status) ? [] : [`${one.name}: ${answers[at]!.status}`],
    )
    assert.deepEqual(forbidden, [])
    // No request is refused for another reason than its right.
    const done = ordered.filter((_, at) => answers[at]!.status === 200).map(({ name }) => name)
    for (const name of [
      'POST /v1/payments DB',
      'POST /v1/payments CD',
      'POST /v1/payments/{id} RF',
      'POST /v1/registrations',
      'POST /v1/registrations/{id}/payments CD',
      'POST /scheduling/v1/schedules CD',
      'POST /scheduling/v1/schedules/{id}/reschedule of CD',
      'DELETE /scheduling/v1/schedules/{id} of CD',
      'POST /v1/checkouts CD',
      'POST /v1/checkouts/{id} CD',
      'DELETE /v1/checkouts/{id} of CD',
      'POST /v1/webhooks',
      'POST /v1/sftpkeys',
      'GET /v1/payments/{id}',
      'GET /v1/events',
    ]) {
      assert.ok(done.includes(name), `${name} was not carried out`)
    }
  })

  function bytesOf({ endpoint, route, fields, noun }: Case, token: string): Buffer {
    const path = route.replace('{id}', own[noun] ?? own.query!)
    const named = { ...fields, ...registrationFor(endpoint.operation) }
    const form = new URLSearchParams(named).toString()
    const login = ['Authorization', `Bearer ${token}`] as const
    if (endpoint.method !== 'POST') {
      return requestBytes(
        endpoint.method,
        form === '' ? path : `${path}?${form}`,
        [login],
        undefined,
      )
    }
    const type = ['Content-Type', 'application/x-www-form-urlencoded'] as const
    keys += 1
    const key = ['Idempotency-Key', `key-${keys}`] as const
    return requestBytes('POST', path, [login, type, key], Buffer.from(form))
  }

  function registrationFor(operation: string): Record<string, string> {
    return ['schedules.create', 'schedules.list'].includes(operation)
      ? { registrationId: own.registrations! }
      : {}
  }
})

/** One resource for each kind of id in paths. */
async function stock({ channel, pay }: Hosted, gateway: Gateway): Promise<Ids> {
  const payment = await pay({}, { on: gateway })
  const account = { entityId: channel, paymentBrand: 'VISA', card: cardOf('4200000000000000') }
  const registration = await gateway.registrations.create(account as never)
  const schedule = async (paymentType: string) => {
    const request = {
      entityId: channel,
      amount: '1.00',
      currency: 'EUR',
      paymentType,
      registrationId: registration.id,
      job: { hour: '6' },
    }
    return (await gateway.schedules.create(request as never)).id
  }
  const made = await Promise.all(schedules.map(schedule))
  const checkout = async (paymentType: string) => {
    const request = { entityId: channel, amount: '1.00', currency: 'EUR', paymentType }
    return (await gateway.checkouts.create(request as never)).id
  }
  const checkouts = await Promise.all(schedules.map(checkout))
  const clock = await gateway.testClocks.create({ entityId: channel, time: '2026-01-01 00:00:00' })
  const url = 'https://127.0.0.1:9/'
  const webhook = await gateway.webhooks.create({ entityId: channel, url })
  const event = await until(async () => {
    const { events } = await gateway.events.list({ entityId: channel })
    return events[0]
  })
  return {
    payments: payment.id,
    query: payment.id,
    registrations: registration.id,
    schedules: made[0]!,
    ...Object.fromEntries(schedules.map((code, at) => [`schedules ${code}`, made[at]!])),
    checkouts: await checkout('DB'),
    ...Object.fromEntries(schedules.map((code, at) => [`checkouts ${code}`, checkouts[at]!])),
    testclocks: clock.id,
    webhooks: webhook.id,
    events: event.id,
  }
}

/** Everything stored, except the rows that a process writes about itself. */
async function stateOf({ sql }: Hosted): Promise<Readonly<Record<string, string>>> {
  const tables = await sql<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'tollgate'::regnamespace and relkind in ('r', 'p') and not relispartition
        and relname not in ('process', 'token', 'data_key_use') order by 1`,
  )
  const state: Record<string, string> = {}
  for (const { name } of tables) {
    const [row] = await sql<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(r::text, '|' order by r::text)), '') as digest
         from tollgate.${name} r`,
    )
    state[name] = row!.digest
  }
  assert.ok('payment' in state && 'idempotency' in state)
  return state
}
