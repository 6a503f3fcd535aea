/** The load: merchants' clients with persistent connections, in a separate process. */
import { Agent, request } from 'node:http'
import { type Load, measure } from './latencies.ts'
import { paymentForm } from './payment.ts'

/** The target, concurrency and duration of a load. */
export type LoadOrder = {
  readonly port: number
  readonly path: string
  readonly entityId: string
  readonly token: string
  readonly concurrent: number
  readonly durationMs: number
}

export type LoadReport = (Load & { readonly answerBytes: number }) | { readonly failure: string }

const agents = new Map<number, Agent>()

/** One agent for each server: its connections outlive the rounds, as a merchant's do. */
function agentOf(port: number): Agent {
  const known = agents.get(port)
  if (known !== undefined) return known
  const made = new Agent({ keepAlive: true, maxSockets: 1000, maxFreeSockets: 1000 })
  agents.set(port, made)
  return made
}

/** One payment. Resolves with its answer, and rejects unless it was approved. */
function pay(order: LoadOrder, no: number): Promise<string> {
  const body = paymentForm(order.entityId, no)
  return new Promise((answered, failed) => {
    const sent = request({
      agent: agentOf(order.port),
      host: '127.0.0.1',
      port: order.port,
      path: order.path,
      method: 'POST',
      headers: {
        Authorization: `Bearer ${order.token}`,
        'Content-Type': 'application/x-www-form-urlencoded',
        'Content-Length': body.length,
      },
    })
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => {
        const isApproved = response.statusCode === 200 && text.includes('"000.100.110"')
        if (isApproved) answered(text)
        else failed(new Error(`answered ${response.statusCode}: ${text.slice(0, 500)}`))
      })
      response.on('error', failed)
    })
    sent.on('error', failed)
    sent.end(body)
  })
}

async function carryOut(order: LoadOrder): Promise<LoadReport> {
  let answerBytes = 0
  try {
    const load = await measure(order.concurrent, order.durationMs, async (no) => {
      answerBytes = (await pay(order, no)).length
    })
    return { ...load, answerBytes }
  } catch (error) {
    return { failure: String(error) }
  }
}

process.on('message', (order: LoadOrder) => {
  carryOut(order).then((report) => process.send?.(report))
})
process.on('disconnect', () => process.exit())
process.send?.({})
