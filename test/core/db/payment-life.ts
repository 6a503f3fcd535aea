/** What a gateway and its program do in a life of a payment, told without ids and times. */
import type pg from 'pg'
import { conduct } from '../../../core/db/session-settings.ts'
import type { TestGateway } from '../../rig/gateway.ts'
import { programBeside } from '../../rig/program.ts'

const person = { givenName: 'Žofie "\\Null\\"', surname: 'NULL' }

/** The program looks after its own limits, and its sessions keep all other settings. */
const limitless = Object.keys(conduct)
  .filter((name) => /timeout|isolation|exit/.test(name))
  .map((name) => `-c ${name}=${conduct[name as keyof typeof conduct].replace(' ', '\\ ')}`)
  .join(' ')

export async function lifeOf(run: TestGateway, url = run.database.url): Promise<unknown> {
  const { gateway, channel: entityId } = run
  const told: Record<string, unknown> = {}
  const made = await run.pay(
    { customer: person, createRegistration: 'true', merchantTransactionId: 'order-01' },
    { key: 'first' },
  )
  const fields = { entityId, amount: '10.00', currency: 'EUR' }
  told.made = made
  told.repeated = await run.pay(
    { customer: person, createRegistration: 'true', merchantTransactionId: 'order-01' },
    { key: 'first' },
  )
  const registrationId = String(made.registrationId)
  const own = `${url}?options=${encodeURIComponent(limitless)}`
  const program = programBeside({ ...run, database: { ...run.database, url: own } })
  await program.transaction('commit', (client) =>
    client.query('create table public.note as select current_user::text as note'),
  )
  const heard: unknown[] = []
  const isHeard = Promise.withResolvers<void>()
  const seen = await gateway.subscribe(
    'books',
    async ({ type, payload }, { client }) => {
      // A table without its schema: the search path is that of the program.
      const { rows } = await client.query('select note from note')
      heard.push({ type, payload, note: typeof rows[0].note })
      if (heard.length === 3) isHeard.resolve()
    },
    { from: 'beginning', types: ['PAYMENT'] },
  )
  const shown = async (client: pg.PoolClient) =>
    (
      await client.query(
        `select string_agg(concat(name, ' ', current_setting(name)), ', ') as all
         from unnest(array['DateStyle', 'TimeZone', 'bytea_output', 'search_path', 'lock_timeout']) as name`,
      )
    ).rows[0].all as string
  const queued = await program.transaction('commit', async (client) => {
    const before = await shown(client)
    const accept = (key: string) =>
      gateway.registrations.accept(
        registrationId,
        { ...fields, paymentType: 'DB', merchantTransactionId: `queued-${key}` } as never,
        { client, idempotencyKey: key },
      )
    const accepted = await accept('queued')
    told.again = await accept('queued')
    told.isSame = (await shown(client)) === before
    return accepted
  })
  await program.decided(queued)
  await program.close()
  told.queued = await gateway.payments.get(queued.id)
  const refund = await gateway.payments.refund(made.id, { amount: '1.00', currency: 'EUR' })
  told.refunded = await gateway.payments.get(refund.id)
  told.schedule = await gateway.schedules.create({
    ...{ ...fields, registrationId, paymentType: 'DB' },
    job: { month: '*', dayOfMonth: '1', hour: '3', minute: '0', second: '0', year: '*' },
  } as never)
  await isHeard.promise
  await seen.close()
  told.heard = heard
  told.steps = await gateway.payments.steps(made.id)
  told.found = await gateway.query.search({
    date: { from: wire(-60), to: wire(60) },
  } as never)
  told.events = await gateway.events.list({ since: wire(-60) })
  told.audit = (await gateway.audit.list()).map(({ action, actor }) => [action, actor])
  told.attention = await gateway.attention()
  return plain(told)
}

const wire = (minutes: number) =>
  new Date(Date.now() + minutes * 60_000).toISOString().slice(0, 19).replace('T', ' ')

/** Ids by the order of their first appearance, and no times, which must only have their form. */
function plain(told: unknown): unknown {
  const ids = new Map<string, string>()
  const text = JSON.stringify(told, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(?:Z|\+00(?:00)?)/g, 'time')
    .replaceAll(
      /SIM[0-9A-F]{12}|\d{4}\.\d{4}\.\d{4}|(?<="durationUs":)\d+|\d+-\d+-\w{32}-\w+-\w+/g,
      '0',
    )
    .replaceAll(/[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/g, (id) => {
      if (!ids.has(id)) ids.set(id, `id ${ids.size}`)
      return ids.get(id)!
    })
  return JSON.parse(text)
}
