/** Clients of several kinds at once, in a process of their own. */
import { setTimeout as pause } from 'node:timers/promises'
import { summarise } from '../latencies.ts'
import { card, paymentForm } from '../payment.ts'
import { type Answer, exchange } from './client.ts'

/** What a stream sends. */
export type Kind =
  /** Payments that are approved; with `delaysMs` by the acquirer outside the process, after a while. */
  | 'approved'
  /** Captures of 0.01 on `ids`, in turn. */
  | 'captures'
  /** Reads of `ids`, in turn. */
  | 'reads'
  /** Checkouts that are made. */
  | 'checkouts'
  /** Checkouts that are made, paid by their shopper, and asked for by their merchant. */
  | 'shoppers'

export type Stream = {
  readonly name: string
  readonly kind: Kind
  readonly port: number
  readonly token: string
  readonly entityId: string
  /** In the place of `entityId`, in turn. */
  readonly entityIds?: readonly string[]
  readonly ids?: readonly string[]
  /** The acquirer answers after a time between these two, all equally likely. */
  readonly delaysMs?: readonly [from: number, to: number]
  /** As many under way as that, or as many a second whatever becomes of them. */
  readonly pace: { readonly concurrent: number } | { readonly perSecond: number }
}

export type TrafficOrder = {
  readonly streams: readonly Stream[]
  readonly durationMs: number
  /** Clients begin within this time, not all at once. */
  readonly rampMs?: number
  /** Rates are counted from here on. */
  readonly countFromMs?: number
}

/** Times are those of answers with HTTP 200 alone, from when they were due to be sent. */
export type StreamReport = {
  readonly name: string
  readonly sent: number
  readonly approved: number
  /** Answers with HTTP 200 a second, between `countFromMs` and the end of sending. */
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** How many had each HTTP status, or each error of a connection. */
  readonly answers: Readonly<Record<string, number>>
}

let last = 0

type Message = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body: string }

function messageOf({ kind, ids = [], delaysMs, ...stream }: Stream): Message {
  last += 1
  const { entityIds = [stream.entityId] } = stream
  const entityId = entityIds[last % entityIds.length]!
  const id = ids[last % ids.length] ?? ''
  if (kind === 'reads') {
    return { method: 'GET', path: `/v1/payments/${id}?entityId=${entityId}`, body: '' }
  }
  if (kind === 'captures') {
    const form = { entityId, paymentType: 'CP', amount: '0.01', currency: 'EUR' }
    return { method: 'POST', path: `/v1/payments/${id}`, body: String(new URLSearchParams(form)) }
  }
  let body = paymentForm(entityId, last)
  if (delaysMs !== undefined) {
    const [from, to] = delaysMs
    const delayMs = Math.round(from + (to - from) * Math.random())
    body += `&testMode=EXTERNAL&customParameters%5BSIM_DELAY_MS%5D=${delayMs}`
  }
  return { method: 'POST', path: '/v1/payments', body }
}

const form = 'application/x-www-form-urlencoded'

function ask({ port, token }: Stream, { method, path, body }: Message, type = form) {
  const length =
    method === 'POST' ? `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n` : ''
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n${length}`
  return exchange(port, `${head}\r\n${body}`)
}

const basket = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }

/** Makes a checkout; its shopper may pay it, and its merchant ask for it. */
async function shop(stream: Stream): Promise<Answer> {
  const { kind, entityId } = stream
  const fields = { ...basket, entityId, shopperResultUrl: 'https://shop.example/thanks' }
  const made = await ask(stream, {
    method: 'POST',
    path: '/v1/checkouts',
    body: String(new URLSearchParams(fields)),
  })
  if (made.status !== 200 || kind === 'checkouts') return made
  const { id } = JSON.parse(made.text) as { id: string }
  const path = `/v1/checkouts/${id}/payment`
  const press = { nonce: id.slice(0, 32), ...flatCard }
  const body = JSON.stringify(press)
  const paid = await ask(stream, { method: 'POST', path, body }, 'application/json')
  if (paid.status !== 200 || !paid.text.includes('"state":"paid"')) return paid
  return ask(stream, { method: 'GET', path: `${path}?entityId=${entityId}`, body: '' })
}

const flatCard = Object.fromEntries(
  Object.entries(card).map(([name, value]) => [`card.${name}`, value]),
)

/** Resolves with the HTTP status or the code of the error, never rejects. */
async function send(stream: Stream): Promise<string> {
  const isShop = stream.kind === 'checkouts' || stream.kind === 'shoppers'
  try {
    const { status, text } = await (isShop ? shop(stream) : ask(stream, messageOf(stream)))
    // HTTP 200 is also the answer of a payment whose fate is open, which is no approval.
    const done = stream.kind === 'checkouts' ? '000.200.100' : /000\.100\.11[02]/.source
    const isOpen = status === 200 && !new RegExp(`"code":"${done}"`).test(text)
    return isOpen ? 'open' : String(status)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

/** Runs one stream to the answer of its last request. */
async function carryOut(stream: Stream, order: TrafficOrder): Promise<StreamReport> {
  const { durationMs, rampMs = 0, countFromMs = 0 } = order
  const start = performance.now()
  const until = start + durationMs
  const latencies: number[] = []
  const answers: Record<string, number> = {}
  let sent = 0
  let counted = 0
  const one = async (dueMs: number): Promise<void> => {
    sent += 1
    const answer = await send(stream)
    const now = performance.now()
    answers[answer] = (answers[answer] ?? 0) + 1
    if (answer !== '200') return
    latencies.push(now - dueMs)
    if (now >= start + countFromMs && now < until) counted += 1
  }
  const { pace } = stream
  if ('concurrent' in pace) {
    const lane = async (which: number) => {
      if (rampMs > 0) await pause((rampMs * which) / pace.concurrent)
      while (performance.now() < until) await one(performance.now())
    }
    await Promise.all(Array.from({ length: pace.concurrent }, (_, which) => lane(which)))
  } else {
    const underWay: Promise<void>[] = []
    for (let no = 0; ; ) {
      const due = Math.min(performance.now(), until)
      for (; start + (no * 1000) / pace.perSecond < due; no += 1) {
        underWay.push(one(start + (no * 1000) / pace.perSecond))
      }
      if (due === until) break
      await pause(1)
    }
    await Promise.all(underWay)
  }
  const { p50Ms, p99Ms } = summarise(latencies, 1)
  const perSecond = counted / ((durationMs - countFromMs) / 1000)
  return { name: stream.name, sent, approved: latencies.length, perSecond, p50Ms, p99Ms, answers }
}

process.on('message', (order: TrafficOrder) => {
  Promise.all(order.streams.map((stream) => carryOut(stream, order))).then((reports) =>
    process.send?.(reports),
  )
})
process.on('disconnect', () => process.exit())
process.send?.({})
