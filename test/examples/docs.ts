import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { makeKey } from '../../core/index.ts'
import { createDatabase, type TestDatabase } from '../rig/database.ts'
import { packedProject } from '../rig/packed.ts'
import { fenced } from './fenced.ts'

const run = promisify(execFile)
const keys = makeKey('main')
let packed: string
let database: TestDatabase
let entityId: string

const block = (document: string, language: string) => fenced(document, language)[0]!

function program(file: string, source: string) {
  writeFileSync(path.join(packed, file), source)
  return run(process.execPath, [file], {
    cwd: packed,
    env: { ...process.env, DATABASE_URL: database.url, TOLLGATE_KEYS: keys, ENTITY_ID: entityId },
  })
}

before(async () => {
  packed = await packedProject([])
  database = await createDatabase()
  const [first = '', channel = ''] = fenced('README.md', 'js')
  const gateway = first.split('\ngateway.on')[0]!
  entityId = (await program('channel.mjs', `${gateway}\n${channel}`)).stdout.trim()
})
after(async () => {
  await database.drop()
})

test('the program in the README takes a payment and prints its event', async () => {
  const source = `const entityId = process.env.ENTITY_ID\n${block('README.md', 'js')}\nconsole.log(payment.result.code)`
  const { stdout } = await program('readme.mjs', source)
  assert.match(stdout, /payment\.approved [0-9a-f]{32}\n000\.100\.110\n/)
})

test('the engine accepts the connector in the guide', async () => {
  writeFileSync(path.join(packed, 'acme.mts'), block('docs/connectors.md', 'ts'))
  const { stdout } = await program(
    'guide.mjs',
    `import acme from './acme.mts'
     import { createGateway, localKeys } from '@tollgate/core'
     const gateway = await createGateway({
       database: { url: process.env.DATABASE_URL },
       environment: 'test',
       keys: localKeys(process.env.TOLLGATE_KEYS),
       plugins: [acme],
       connectors: { acme: { url: 'https://acme.example' } },
     })
     const id = await gateway.entities.createAccount({
       channelId: process.env.ENTITY_ID, connector: 'acme', mode: 'EXTERNAL',
       settings: { merchantId: 'M1', secret: 'not told' },
     })
     console.log(id)
     await gateway.close()`,
  )
  assert.match(stdout, /^[0-9a-f]{32}\n$/)
})

test('the program in the guide on embedding pays each order once, sends its receipt, and survives lost connections', async () => {
  const { stdout } = await program(
    'embedding.mjs',
    `${fenced('docs/embedding.md', 'js').join('\n')}
     const stored = await gateway.payments.create({
       entityId: process.env.ENTITY_ID, amount: '1.00', currency: 'EUR', paymentType: 'DB', createRegistration: 'true',
       card: { number: '4200000000000000', expiryMonth: '05', expiryYear: '2034', cvv: '123' },
     })
     const accepted = await placeOrder('order-2041', '92.00', stored.registrationId)
     console.log(accepted.result.code)
     // The order exists already, so this transaction is rolled back.
     await placeOrder('order-2041', '50.00', stored.registrationId).catch(({ code }) => console.log(code))
     for (let order; order?.receipt !== 'sent'; ) {
       const { rows } = await shop.query('select state, receipt, payment_id from shop_order')
       order = rows[0]
       if (order.receipt === 'sent') {
         const { amount, result } = await gateway.payments.get(order.payment_id)
         console.log(rows.length, order.state, amount, result.code)
       }
     }
     const [held, idle] = [await shop.connect(), await shop.connect()]
     const ended = [held, idle].map((client) => new Promise((resolve) => client.once('end', resolve)))
     const pids = []
     for (const client of [held, idle]) {
       pids.push((await client.query('select pg_backend_pid() as pid')).rows[0].pid)
     }
     idle.release()
     const server = new pg.Client({ connectionString: process.env.DATABASE_URL })
     await server.connect()
     await server.query('select pg_terminate_backend(pid) from unnest($1::integer[]) as ended (pid)', [pids])
     await server.end()
     await Promise.all(ended)
     held.release()
     await shop.query("update shop_order set state = 'open', placed_at = now() - interval '3 hours'")
     console.log(JSON.stringify(await openOrders()))
     await gateway.close()
     await shop.end()`,
  )
  assert.deepEqual(stdout.trim().split('\n'), [
    '000.200.001',
    '23505',
    '1 paid 92.00 000.100.110',
    '[{"order":"order-2041","code":"000.100.110"}]',
  ])
})
