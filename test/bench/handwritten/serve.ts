/** The HTTP side of all hand-written contestants: the token's hash, the form, the answer. */
import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { answerOf, type Payment, readPayment, type Verdict } from './payment.ts'

/** The difference between the contestants: the storage of a payment around the acquirer's call. */
export type Workflow = {
  readonly pay: (payment: Payment) => Promise<Verdict>
  readonly close: () => Promise<void>
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/**
 * Listens on a free port, reports it to the benchmark, and serves until the benchmark disconnects.
 */
export function serve({ pay, close }: Workflow): void {
  const callers = new Map([[hashOf(process.env.BENCH_TOKEN ?? ''), { name: 'the merchant' }]])
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
    const verdict = await pay(payment)
    response.status(verdict.state === 'approved' ? 200 : 400).json(answerOf(payment, verdict))
  })
  const server = app.listen(0, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as AddressInfo).port })
  })
  process.on('disconnect', async () => {
    server.closeAllConnections()
    server.close()
    await close()
    process.exit()
  })
}
