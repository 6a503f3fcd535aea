import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Attack } from './attack.ts'
import { own } from './ground.ts'
import { wrongWith } from './judge.ts'
import { debitFields, pay } from './payments.ts'
import { AnswerReader, get, open, post, sendAll } from './wire.ts'

const headersMs = 700
const requestMs = 1400
/** The server checks for late clients about once a second. */
const graceMs = 60_000

type Dripping = { endedAfterMs: number | null; readonly wrong: string[] }

/** Sends a byte at an interval until the server closes the connection. */
function drip(url: string, bytes: Buffer, everyMs: number): Promise<Dripping> {
  return new Promise((resolve) => {
    const socket = open(url)
    const reader = new AnswerReader()
    const result: Dripping = { endedAfterMs: null, wrong: [] }
    const startedMs = performance.now()
    let at = 0
    const timer = setInterval(() => {
      // The last byte is never sent, so the request stays unfinished.
      if (at < bytes.length - 1) socket.write(bytes.subarray(at, at + 1))
      at += 1
    }, everyMs)
    const give = setTimeout(() => socket.destroy(), requestMs + headersMs + graceMs)
    socket.on('data', (chunk) => {
      for (const answer of reader.add(chunk)) {
        const wrong = wrongWith(answer)
        if (wrong !== undefined) result.wrong.push(wrong)
      }
    })
    socket.on('end', () => {
      result.endedAfterMs = performance.now() - startedMs
      socket.destroy()
    })
    socket.on('error', () => {})
    socket.once('close', () => {
      clearInterval(timer)
      clearTimeout(give)
      // A connection cut without an answer counts as ended.
      if (socket.readableAborted) result.endedAfterMs ??= performance.now() - startedMs
      resolve(result)
    })
  })
}

export const slow: Attack = {
  name: 'slow',
  title: 'clients that send a byte at a time, and more connections than there may be',
  async run(run) {
    const { ground, profile } = run
    const most = profile === 'full' ? 1000 : 200
    const host = await ground.another({
      TOLLGATE_HEADERS_TIMEOUT_MS: String(headersMs),
      TOLLGATE_REQUEST_TIMEOUT_MS: String(requestMs),
      TOLLGATE_CONNECTIONS: String(most),
    })
    try {
      const token = ground.tokens[0]!
      const whole = post('/v1/payments', token, { ...debitFields, entityId: own.channel })
      const head = whole.subarray(0, whole.indexOf('\r\n\r\n') + 4)
      const clients = Math.floor(most / 2)
      const dripping = Array.from({ length: clients }, (_, index) => {
        const kinds = [
          head,
          whole,
          get('/healthz'),
          post('/v1/payments', 'x', debitFields),
        ] as const
        return index % 4 === 1
          ? dripAfter(host.url, head, whole.subarray(head.length))
          : drip(host.url, kinds[index % 4]!, 20)
      })
      const honest = await honestPayments(host.url, token, 20)
      const results = await Promise.all(dripping)
      const open = results.filter(({ endedAfterMs }) => endedAfterMs === null).length
      if (open > 0) run.find('a slow client is let go on', `${open} of ${clients} connections`)
      for (const { wrong } of results) {
        for (const what of wrong) run.find(`a slow client: ${what}`, 'a request a byte at a time')
      }
      const flood = await floodOf(host.url, token, most)
      if (flood.open > most) run.find('more connections than allowed', `${flood.open} of ${most}`)
      if (flood.during !== 'answered') run.find('a kept connection fails in a flood', flood.during)
      await pay(host.url, token, { entityId: own.channel })
      const late = results.map(({ endedAfterMs }) => endedAfterMs ?? 0)
      return {
        'slow clients': clients,
        'ended after at most ms': Math.round(Math.max(...late)),
        'payments meanwhile': honest,
        'connections tried': most * 2,
        'connections held': flood.open,
      }
    } finally {
      await host.close()
    }
  },
}

/** Sends the headers at once, then the body byte by byte. */
async function dripAfter(url: string, head: Buffer, body: Buffer): Promise<Dripping> {
  return drip(url, Buffer.concat([head, body]), 1)
}

async function honestPayments(url: string, token: string, count: number): Promise<number> {
  for (let no = 0; no < count; no += 1) await pay(url, token, { entityId: own.channel })
  return count
}

/** Opens twice the permitted number of connections from one address beside one earlier client of another. */
async function floodOf(url: string, token: string, most: number) {
  const kept = open(url)
  kept.on('error', () => {})
  await once(kept, 'connect')
  const reader = new AnswerReader()
  const ask = async (): Promise<string> => {
    if (kept.closed) return 'closed'
    const answer = new Promise<string>((resolve) => {
      kept.on('data', (chunk) => {
        const [first] = reader.add(chunk)
        if (first !== undefined) resolve(wrongWith(first) ?? 'answered')
      })
      kept.once('close', () => resolve('closed'))
    })
    kept.write(get(`/v1/payments/${'0'.repeat(32)}`, token))
    return answer
  }
  const first = await ask()
  const sockets: Socket[] = []
  const closed = new Set<Socket>()
  for (let no = 0; no < most * 2; no += 1) {
    const socket = open(url, '127.0.0.2')
    socket.on('error', () => {})
    for (const event of ['end', 'close'] as const) socket.once(event, () => closed.add(socket))
    socket.resume()
    sockets.push(socket)
  }
  await Promise.all(
    sockets.map((socket) =>
      socket.connecting
        ? Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined)
        : undefined,
    ),
  )
  kept.removeAllListeners('data')
  const during = first === 'answered' ? await ask() : first
  // The system accepts before the server does, which closes excess connections a little later.
  const closedByMs = performance.now() + graceMs
  while (sockets.length - closed.size > most && performance.now() < closedByMs) {
    await new Promise((resume) => setTimeout(resume, 20))
  }
  const held = sockets.length - closed.size
  for (const socket of [...sockets, kept]) socket.destroy()
  await Promise.all(sockets.map((socket) => (socket.closed ? undefined : once(socket, 'close'))))
  // The server notices closed connections after a while, so the first new client may come too
  // early.
  const untilMs = performance.now() + graceMs
  for (;;) {
    const [answer] = await sendAll(url, [get('/healthz')], {
      connections: 1,
      pipelined: 1,
      withinMs: 2_000,
    })
    if (answer?.status === 200 || performance.now() > untilMs) break
  }
  return { open: held, during }
}
