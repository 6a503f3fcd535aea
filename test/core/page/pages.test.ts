/** A page of a list ends at the byte limit of an answer, and its cursor continues after it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '../../../schemas/index.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { olderTransactionsEnd } from '../../rig/older-transactions.ts'

describe('pages of lists', () => {
  const large = 640 * 1024
  const many = 9

  let run: TestGateway
  let ids: string[]
  let since: string

  before(async () => {
    run = await startGateway()
    const { nextCursor } = await run.gateway.events.list({ since: 'NOW' })
    since = nextCursor
    ids = []
    for (let no = 0; no < many; no += 1) ids.push((await run.pay()).id)
    // Rows as older versions wrote them without a limit; Postgres compresses half of them to nothing.
    await fill('payment_request', ids)
  })
  after(() => run.close())

  async function fill(table: string, rows: readonly string[]): Promise<void> {
    await run.sql(
      `update tollgate.${table}
    set request = request || jsonb_build_object('customParameters', jsonb_build_object('free',
      case when no % 2 = 0 then repeat('x', $2)
      else (select string_agg(md5(part::text), '') from generate_series(1, $2 / 32) as part) end))
    from unnest($1::uuid[]) with ordinality as chosen(chosen_id, no)
    where id = chosen.chosen_id`,
      [rows, large],
    )
  }

  /** No answer is much longer than the limit of a page. */
  function isBounded(page: unknown): void {
    const { length } = JSON.stringify(page)
    assert.ok(length < limits.pageBytes + 4096, `${length} characters`)
  }

  test('the event feed keeps its pages below the limit of bytes', async () => {
    const told: string[] = []
    let pages = 0
    await olderTransactionsEnd(run)
    for (let cursor = since, more = true; more && pages < 50; pages += 1) {
      const page = await run.gateway.events.list({
        cursor,
        limit: '500',
        wait: pages === 0 ? '5' : '0',
      })
      isBounded(page)
      told.push(...page.events.map(({ payload }) => payload.id))
      cursor = page.nextCursor
      more = page.more
    }
    assert.deepEqual(told, ids)
    assert.ok(pages >= 3, `${pages} pages`)
  })

  const wire = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')

  /** All entries of a list, page by page. */
  async function walk<Page extends { readonly nextCursor?: string }>(
    read: (more: { cursor?: string }) => Promise<Page>,
    idsOf: (page: Page) => readonly string[],
  ): Promise<{ found: string[]; pages: number }> {
    const found: string[] = []
    for (let pages = 1, cursor: string | undefined; ; pages += 1) {
      const page = await read(cursor === undefined ? {} : { cursor })
      isBounded(page)
      found.push(...idsOf(page))
      cursor = page.nextCursor
      if (cursor === undefined || pages === 50) return { found, pages }
    }
  }

  async function searched(
    more: Record<string, string>,
  ): Promise<{ found: string[]; pages: number }> {
    const date = { from: wire(Date.now() - 3_600_000), to: wire(Date.now() + 60_000) }
    return walk(
      (place) => run.gateway.query.search({ date, limit: '500', ...place, ...more } as never),
      ({ records }) => records.map(({ id }) => id),
    )
  }

  test('searches keep their pages below the limit of bytes, newest first', async () => {
    const { found, pages } = await searched({})
    assert.deepEqual(found, ids.toReversed())
    assert.ok(pages >= 3, `${pages} pages`)
  })

  test('searches with linked transactions return each once, with its links', async () => {
    const refund = await run.gateway.payments.refund(ids[0]!, { amount: '1.00', currency: 'EUR' })
    const { found } = await searched({ includeLinkedTransactions: 'true' })
    assert.deepEqual([...new Set(found)].sort(), [...ids, refund.id].sort())
  })

  test('the links of one transaction fill at most one answer', async () => {
    const { id } = await run.pay({ amount: '50.00' })
    const refunds: string[] = []
    for (let no = 0; no < 5; no += 1) {
      const refund = await run.gateway.payments.refund(id, { amount: '1.00', currency: 'EUR' })
      refunds.push(refund.id)
    }
    await fill('payment_request', [id, ...refunds])
    const linked = await run.gateway.query.linked(id)
    assert.ok(linked.some((entry) => entry.id === id))
    assert.ok(JSON.stringify(linked).length < limits.pageBytes + large + 8192)
  })

  test('the schedules of a registration keep their pages below the limit of bytes', async () => {
    const { registrationId } = await run.pay({ createRegistration: 'true' })
    const schedules: string[] = []
    for (let no = 0; no < many; no += 1) {
      const schedule = await run.gateway.schedules.create({
        entityId: run.channel,
        registrationId: String(registrationId),
        paymentType: 'DB',
        amount: '5.00',
        currency: 'EUR',
        job: { month: '*', dayOfMonth: '1', hour: '3', minute: '0', second: '0', year: '*' },
      } as never)
      schedules.push(schedule.id)
    }
    await fill('schedule', schedules)
    const asked = { registrationId: String(registrationId), limit: '500' }
    const { found, pages } = await walk(
      (place) => run.gateway.schedules.list({ ...asked, ...place }),
      (page) => page.schedules.map(({ id }) => id),
    )
    assert.deepEqual(found, schedules.toReversed())
    assert.ok(pages >= 3, `${pages} pages`)
  })

  test('the deliveries of an endpoint keep their pages below the limit of bytes', async () => {
    const caller = { id: 'shop', entityId: run.channel }
    const made = await run.gateway.webhooks.create({ url: 'https://shop.example/hook' }, { caller })
    await run.sql(
      `insert into tollgate.delivery (id, endpoint_id, kind, resource, seq, event_id, created_at, due_at, state)
    select gen_random_uuid(), $1, 'PAYMENT', $2, 1, gen_random_uuid(), now(), now(), 'dead'
    from generate_series(1, 18)`,
      [made.id, ids[0]],
    )
    await run.sql(
      `insert into tollgate.delivery_attempt (delivery_id, id, at, duration_ms, status, answer, request)
    select id, gen_random_uuid(), now(), 1, 500, repeat('a', 1048576), '{}' from tollgate.delivery`,
    )
    const { found, pages } = await walk(
      (place) => run.gateway.webhooks.deliveries(made.id, { limit: '500', ...place }),
      (page) => page.deliveries.map(({ id }) => id),
    )
    assert.equal(new Set(found).size, 18)
    assert.ok(pages >= 2, `${pages} pages`)
  })
})
