/** A failover to a standby that lagged: two processes write again what they remember, in either order. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Context, type Operation, pending } from '@tollgate/plugin-kit'
import pg from 'pg'
import { createGateway, type Gateway, localKeys } from '../../../core/index.ts'
import { type Pair, startPair } from '../../faults/postgres-pair.ts'
import { ask } from '../../faults/postgres-servers.ts'
import { message, scriptedAcquirer } from '../../rig/acquirer.ts'
import { card, freshSimulator, testKey, until } from '../../rig/gateway.ts'
import plugin, { connectorsAt } from '../../rig/installation/acquirer-plugin.ts'
import { merchantEntityId } from '../../rig/installation/installation.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'

const approved = '000.100.112'
const eur = { amount: '92.00', currency: 'EUR' }

describe('commits that a failover lost', () => {
  /** Reverses by key, and answers no enquiry. */
  const acquirer = scriptedAcquirer({}, 'enquire')
  const warnings = { worker: [] as string[], api: [] as string[] }
  let pair: Pair
  let leader: string
  const lines: Line[] = []
  const gateways: Gateway[] = []
  let worker: Gateway
  let api: Gateway
  let channel: string

  const start = async (role: 'worker' | 'api') => {
    const line = await lineTo(pair.url)
    lines.push(line)
    const gateway = await createGateway({
      database: { url: line.url },
      plugins: [plugin, freshSimulator(), acquirer.plugin],
      connectors: connectorsAt('http://127.0.0.1:9'),
      environment: 'test',
      keys: localKeys(testKey),
      shutdownGraceMs: 2_000,
      role: role === 'worker' ? 'all' : 'api',
      log: { info: () => {}, warn: (_, text) => void warnings[role].push(text) },
    })
    gateways.push(gateway)
    return gateway
  }
  const sql = <Row>(text: string) => ask<Row>(leader, text)
  const pay = (gateway: Gateway, reference: string, more: Record<string, unknown> = {}) =>
    gateway.payments.create({
      ...card('4200000000000000'),
      ...{ testMode: 'EXTERNAL', entityId: channel, merchantTransactionId: reference },
      ...more,
    } as never)
  const code = ({ id }: { readonly id: string }) =>
    api.payments.get(id).then(
      ({ result }) => result.code,
      () => 'missing',
    )
  const approvedAgain = (payment: { readonly id: string }) =>
    until(async () => ((await code(payment)) === approved ? true : undefined), 60_000)
  const listed = async ({ id }: { readonly id: string }) => {
    const rows = await sql<{ kind: string; detail: { why: string } }>(
      `select kind, detail from tollgate.attention where payment_id = '${id}' and resolved_at is null`,
    )
    return rows.map(({ kind, detail }) => `${kind}: ${detail.why}`)
  }
  const written = 'recovered: its rows were missing and were written again'
  const atStandby = (text: string) =>
    until(async () => {
      const rows = await ask(pair.standbyUrl, text).catch(() => [])
      return rows.length > 0 ? true : undefined
    })
  const approvalsOf = async ({ id }: { readonly id: string }) => {
    const rows = await sql<{ id: string }>(
      `select id from tollgate.event where resource = '${id}' and type = 'payment.approved'`,
    )
    return rows.map((row) => row.id)
  }

  type Kept = { readonly id: string }
  let waiting: Kept
  let queued: Kept
  let held: Kept
  let capture: Kept
  let sale: Kept
  let refund: Kept
  let frozen: Kept
  /** One process began it, and another one remembers its approval. */
  let apart: Kept
  let event: readonly string[]
  let lostNumber: bigint

  before(async () => {
    pair = await startPair('asynchronous')
    leader = pair.url
    api = await start('api')
    channel = await api.entities.create({
      kind: 'channel',
      name: 'failover',
      parentId: merchantEntityId,
    })
    const account = await api.entities.createAccount({
      ...{ channelId: channel, connector: 'scripted', mode: 'EXTERNAL', settings: {} },
    })
    const reversed = { reverseByKey: () => ({ is: 'reversed', refs: {} }) as const }
    const waits = {
      ...reversed,
      debit: (operation: Operation, context: Context) => {
        context.sending()
        return pending('event', { refs: { reference: `at-${operation.key}` } })
      },
    }
    acquirer.tell('order-waits', waits)
    acquirer.tell('order-apart', waits)
    acquirer.tell('order-queued', reversed)
    // The standby has both as they begin.
    waiting = await pay(api, 'order-waits')
    const approve = async (gateway: Gateway, { id }: Kept) => {
      const [row] = await sql<{ attempt_key: string }>(
        `select attempt_key from tollgate.payment where id = '${id}'`,
      )
      const outcome = { is: 'approved', refs: { reference: 'by-event' } }
      const told = { eventId: `late-${id}`, key: row!.attempt_key, outcome }
      await gateway.inbound('scripted', account, message(told as never))
      await approvedAgain({ id })
    }
    queued = await accepted()
    await atStandby(`select 1 from tollgate.payment where id = '${queued.id}'`)
    await atStandby(
      `select 1 from tollgate.payment where id = '${waiting.id}' and state = 'pending'`,
    )
    await pair.cutOff()
    worker = await start('worker')
    await sql(`update tollgate.timer set due_at = now() where kind = 'queued'`)
    await approvedAgain(queued)
    await approve(worker, waiting)
    apart = await pay(worker, 'order-apart')
    await approve(api, apart)
    held = await pay(worker, 'order-held', { paymentType: 'PA' })
    capture = await api.payments.capture(held.id, eur as never)
    sale = await pay(worker, 'order-sale')
    refund = await api.payments.refund(sale.id, eur as never)
    frozen = await pay(worker, 'order-frozen')
    event = await approvalsOf(sale)
    // As if further processes had taken many numbers.
    for (let no = 0; no < 40; no += 1) await sql(`select nextval('tollgate.short_no')`)
    lostNumber = BigInt((await sql<{ no: string }>(numbers))[0]!.no)
    leader = await pair.failOver(0)
  })
  const numbers = 'select last_value::text as no from tollgate.short_no'
  /** A queued payment of a program that ends. */
  const accepted = async () => {
    const { card: account, ...fields } = card('4200000000000000')
    const { cvv: _cvv, ...stored } = account
    const client = new pg.Client({ connectionString: pair.url })
    await client.connect()
    await client.query('begin')
    const payment = await api.payments.accept(
      {
        ...fields,
        card: stored,
        ...{ testMode: 'EXTERNAL', entityId: channel, merchantTransactionId: 'order-queued' },
      } as never,
      { client },
    )
    await client.query('commit')
    await client.end()
    return payment
  }
  after(async () => {
    for (const gateway of gateways) await gateway.close()
    for (const line of lines) await line.close()
    await pair?.cluster.stop()
  })

  test('operations wait for the payments that another process remembers, which are frozen until then', async () => {
    lines[0]!.leadTo(leader)
    const missing = 'recovered: its reference is missing too'
    for (const one of [capture, refund]) {
      await until(async () => ((await listed(one)).includes(missing) ? true : undefined), 60_000)
    }
    const begunElsewhere =
      'recovered: a failover lost its rows, and another process may remember them'
    await until(async () => ((await listed(apart)).includes(begunElsewhere) ? true : undefined))
    // Of a process that is gone: an operation on a payment that another one remembers.
    const [entry] = await sql<{ id: string }>(`insert into tollgate.attention
      (id, kind, payment_id, attempt_key, alarm_at, detail, reference, freezes)
      values (gen_random_uuid(), 'recovered', gen_random_uuid(), 'gone', now(), '{}', 'missing', '{${frozen.id}}')
      returning id`)
    lines[1]!.leadTo(leader)
    for (const one of [held, sale, capture, refund]) await approvedAgain(one)
    for (const one of [held, sale, capture, refund]) assert.deepEqual(await listed(one), [written])
    await assert.rejects(worker.payments.capture(held.id, eur as never), { code: '700.400.100' })
    await assert.rejects(worker.payments.refund(sale.id, eur as never), { code: '700.400.200' })
    await approvedAgain(frozen)
    const holders = await sql<{ id: string }>(
      'select unnest(frozen_by) as id from tollgate.payment_balance',
    )
    assert.deepEqual(holders, [entry], 'only the operation that is still missing freezes')
  })

  test('an approval that is written again is the same event', async () => {
    assert.deepEqual(await approvalsOf(sale), event)
  })

  test('a pending payment gets the approval that a process remembers, and is listed', async () => {
    await approvedAgain(waiting)
    assert.deepEqual(await listed(waiting), [
      'recovered: its outcome was missing and was written again',
    ])
    assert.deepEqual(acquirer.of('order-waits'), ['debit'])
  })

  test('an approval waits for the payment that another process began', async () => {
    await approvedAgain(apart)
    assert.deepEqual(acquirer.of('order-apart'), ['debit'])
  })

  test('a queued payment gets the approval that a process remembers, and is not reversed', async () => {
    await approvedAgain(queued)
    await sql(`update tollgate.timer set due_at = now() where kind in ('queued', 'look')`)
    const timers = `select from tollgate.timer where kind = 'queued' and due_at <= now()`
    await until(async () => ((await sql(timers)).length === 0 ? true : undefined), 60_000)
    assert.equal(await code(queued), approved)
    assert.deepEqual(acquirer.of('order-queued'), ['debit'])
  })

  test('no number of a short id is given out twice', async () => {
    const [row] = await sql<{ no: string }>(numbers)
    assert.ok(BigInt(row!.no) > lostNumber)
  })
})
