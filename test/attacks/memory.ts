import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Attack, AttackRun } from './attack.ts'
import { own } from './ground.ts'
import type { Host } from './host.ts'
import { wrongWith } from './judge.ts'
import { debitFields } from './payments.ts'
import { exchange, get, open, post } from './wire.ts'

const mebibyte = 1024 * 1024
/**
 * The memory that stalled bodies may add to a process: their budget, and as much again in transit.
 */
const stalledBytes = 200 * mebibyte
const withinMs = 60_000

/** Custom parameters of that many bytes. */
function custom(bytes: number): Record<string, string> {
  const fields: Record<string, string> = {}
  for (let no = 0; no * 2000 < bytes; no += 1) {
    fields[`customParameters[free.${no}]`] = 'x'.repeat(1960)
  }
  return fields
}

const large = (bytes: number) => ({ ...debitFields, entityId: own.channel, ...custom(bytes) })

async function status({ url }: Host, bytes: Buffer, find: AttackRun['find']): Promise<number> {
  const { answers } = await exchange(url, bytes, withinMs)
  const [answer] = answers
  const wrong = answer === undefined ? 'no answer' : wrongWith(answer)
  if (wrong !== undefined) find(wrong, bytes.subarray(0, 300).toString('latin1'))
  return answer?.status ?? 0
}

/** Connections that each send most of a body and then stall. */
async function stall({ url }: Host, head: string, count: number): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => open(url))
  for (const socket of sockets) {
    socket.on('error', () => {})
    if (socket.connecting) await once(socket, 'connect')
    socket.write(`${head}Content-Length: ${8 * mebibyte}\r\n\r\n`)
    socket.write(Buffer.alloc(7 * mebibyte, 'a'))
  }
  return sockets
}

export const memory: Attack = {
  name: 'memory',
  title: 'requests, lists and stalled bodies that are to use up the memory of a process',
  async run(run) {
    const { ground, profile, find } = run
    const host = await ground.another({ TOLLGATE_REQUEST_TIMEOUT_MS: '20000' })
    const [token = ''] = ground.tokens
    try {
      for (const bytes of [7 * mebibyte, mebibyte, 70 * 1024]) {
        const answered = await status(host, post('/v1/payments', token, large(bytes)), find)
        if (answered !== 400) find('more custom parameters than allowed', `${bytes}: ${answered}`)
      }
      const payments = profile === 'full' ? 600 : 20
      for (let no = 0; no < payments; no += 1) {
        const answered = await status(host, post('/v1/payments', token, large(60_000)), find)
        if (answered !== 200) find('a permitted large payment was refused', String(answered))
      }
      const lists = ['/v1/events?limit=500', '/v1/query?limit=500', '/v3/query?limit=500']
      const [from, to] = [-3_600_000, 3_600_000].map((ms) =>
        encodeURIComponent(new Date(Date.now() + ms).toISOString().slice(0, 19).replace('T', ' ')),
      )
      for (const list of lists) {
        const frame = list.includes('query') ? `&date.from=${from}&date.to=${to}` : ''
        const answered = await status(host, get(`${list}${frame}`, token), find)
        if (answered !== 200) find('a list that does not answer', `${list}: ${answered}`)
      }
      await host.measure()
      const count = profile === 'full' ? 60 : 30
      const before = (await host.measure()).peakBytes
      const heads = [
        'POST /connectors/nobody/nobody/events HTTP/1.1\r\nHost: x\r\n',
        'POST /connectors/simulator/internal/events HTTP/1.1\r\nHost: x\r\n',
        `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`,
      ]
      let most = 0
      for (const head of heads) {
        const stalled = await stall(host, head, count)
        const other = post('/v1/payments', ground.tokens[2]!, {
          ...debitFields,
          entityId: own.channel,
        })
        const answered = await status(host, other, find)
        if (answered !== 200) find('stalled clients exclude another one', String(answered))
        const { peakBytes } = await host.measure()
        most = Math.max(most, peakBytes - before)
        if (peakBytes - before > stalledBytes)
          find('stalled bodies take memory', `${head} ${peakBytes - before}`)
        for (const socket of stalled) socket.destroy()
      }
      const end = host.ended()
      if (end !== undefined) find('the process ended', end)
      return {
        payments,
        lists: lists.length,
        stalled: count * heads.length,
        addedMB: Math.round(most / mebibyte),
      }
    } finally {
      await host.close()
    }
  },
}
