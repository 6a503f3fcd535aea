/**
 * What a good developer writes without Tollgate: an Express handler on a pool of connections. It
 * keeps the same facts in the same two commits around the acquirer's call, and nothing more: no
 * repeats, no follow-ups, no enquiries, no several acquirers, 9 parameters instead of 700.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import express from 'express'
import pg from 'pg'
import { answerOf, charge, newId, readPayment } from './payment.ts'
import { statements } from './statements.ts'
import { transactions } from './transactions.ts'

const { BENCH_DATABASE: url, BENCH_TOKEN: token = '', BENCH_POOL: max = '10' } = process.env
const pool = new pg.Pool({ connectionString: url, max: Number(max) })
await pool.query(await readFile(new URL('schema.sql', import.meta.url), 'utf8'))
const store = process.env.BENCH_STORE === 'statements' ? statements(pool) : transactions(pool)

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
const callers = new Map([[hashOf(token), { name: 'the merchant' }]])

const app = express()
app.disable('x-powered-by')
app.disable('etag')
app.use(express.urlencoded({ extended: false }))
app.post('/v1/payments', async (request, response) => {
  const sent = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
  if (!callers.has(hashOf(sent))) {
    response.status(403).json({ result: { code: '800.900.300' } })
    return
  }
  const payment = readPayment(request.body)
  if (typeof payment === 'string') {
    response.status(400).json({ result: { code: '200.300.404', parameterErrors: [payment] } })
    return
  }
  await store.accept(payment)
  const verdict = await charge(payment)
  await store.settle(payment, verdict, newId())
  response.status(verdict.state === 'approved' ? 200 : 400).json(answerOf(payment, verdict))
})

const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port })
})
process.on('disconnect', async () => {
  server.closeAllConnections()
  server.close()
  await pool.end()
  process.exit()
})
