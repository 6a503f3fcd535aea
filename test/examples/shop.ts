/** The shop of the embed example, as its reader starts it and buys in it. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { makeKey } from '../../core/index.ts'
import { createDatabase, type TestDatabase } from '../rig/database.ts'

const card = { number: '4200000000000000', expiryMonth: '05', expiryYear: '2034', cvv: '123' }

/** Starts one of the example's programs and waits for the URL it prints. */
async function openShop(
  folder: string,
  program: string,
  database: TestDatabase,
  { conditions, keys }: { readonly conditions: readonly string[]; readonly keys: string },
): Promise<{ url: string; close(): Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, [...conditions, path.join(folder, program)], {
    cwd: folder,
    env: {
      ...process.env,
      DATABASE_URL: database.url,
      TOLLGATE_KEYS: keys,
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const url = await new Promise<string>((resolve, reject) => {
    let out = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk
      const found = /http:\/\/\S+/.exec(out)
      if (found !== null) resolve(found[0])
    })
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}: ${out}`)))
  })
  return {
    url,
    async close() {
      child.kill('SIGTERM')
      const [code] = await exited
      assert.equal(code, 0, 'the shop ends cleanly')
    },
  }
}

/** Buys once, waits for the shop's own job, and checks the subscriber's events. */
async function buy(url: string): Promise<string> {
  const order = (body: object) =>
    fetch(`${url}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const bought = await order({ card })
  assert.equal(bought.status, 201)
  const { orderId, payment } = (await bought.json()) as { orderId: string; payment: string }
  let read: { receipt?: string; events?: string[] } = {}
  while (read.receipt === undefined) {
    read = (await (await fetch(`${url}/orders/${orderId}`)).json()) as typeof read
  }
  assert.deepEqual(read.events, ['payment.approved'])

  const refused = await order({ card: { ...card, number: '4200000000000001' } })
  assert.equal(refused.status, 400)
  const { fields } = (await refused.json()) as { fields: { name: string }[] }
  assert.deepEqual(
    fields.map(({ name }) => name),
    ['card.number'],
  )

  const health = await fetch(`${url}/gateway/healthz`)
  assert.equal(health.status, 200, 'the REST surface is mounted in the foreign app')
  const openapi = await fetch(`${url}/gateway/openapi.json`)
  assert.equal(((await openapi.json()) as { openapi: string }).openapi, '3.1.1')
  return payment
}

/** Buys in the shop of a program, ends it, and buys again: after a restart, a new order is a new payment. */
export async function sells(
  folder: string,
  program: string,
  conditions: readonly string[] = [],
): Promise<void> {
  const database = await createDatabase()
  const keys = makeKey('main')
  const payments = new Set<string>()
  try {
    for (let start = 0; start < 2; start += 1) {
      const shop = await openShop(folder, program, database, { conditions, keys })
      try {
        payments.add(await buy(shop.url))
      } finally {
        await shop.close()
      }
    }
  } finally {
    await database.drop()
  }
  assert.equal(payments.size, 2)
}
