import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import type { Attack } from './attack.ts'
import { own } from './ground.ts'
import { saidIn } from './payments.ts'
import { type Answer, get, open, post, sendAll } from './wire.ts'

const secret = 'what an inner service says'

/** A server that accepts connections and answers nothing, or a private text. */
async function innerService() {
  const sockets = new Set<Socket>()
  let most = 0
  let answers = false
  const server = createServer((socket) => {
    sockets.add(socket)
    most = Math.max(most, sockets.size)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.on('data', () => {
      if (answers)
        socket.end(`HTTP/1.1 418 Tea\r\nContent-Length: ${secret.length}\r\n\r\n${secret}`)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    port: (server.address() as AddressInfo).port,
    open: () => sockets.size,
    most: () => most,
    answer: () => {
      answers = true
      for (const socket of sockets) socket.destroy()
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Webhooks as access to this machine, and their tests as a means to hold connections. */
export const webhooks: Attack = {
  name: 'webhooks',
  title: 'webhook endpoints on this machine, and tests of them against a server that never answers',
  async run(run) {
    const { ground, find, profile } = run
    const token = ground.tokens[0]!
    const inner = await innerService()
    const host = await ground.another({ TOLLGATE_ALLOW_LOOPBACK_FOR_MERCHANTS: 'true' })
    const usual = await ground.host()
    const ask = async (url: string, path: string, fields: Record<string, string>) => {
      const request = post(path, token, { entityId: own.channel, ...fields })
      const sent = { connections: 1, pipelined: 1, withinMs: 60_000 }
      const [answer] = await sendAll(url, [request], sent)
      return answer!
    }
    try {
      const databasePort = new URL(ground.databaseUrl).port
      const closed: [what: string, at: string, port: string][] = [
        ['its own port', host.url, new URL(host.url).port],
        ["its database's port", host.url, databasePort],
        ['any port where nobody allowed it', usual.url, String(inner.port)],
      ]
      let reached = 0
      for (const [what, at, port] of closed) {
        for (const name of ['127.0.0.1', 'localhost', '127.1', '0x7f000001', '[::1]']) {
          for (const scheme of ['http', 'https']) {
            const url = `${scheme}://${name}:${port}/`
            const answer = await ask(at, '/v1/webhooks', { url })
            if (answer.status === 400) continue
            reached += 1
            find(`a webhook may lead to ${what}`, `${url}: ${answer.body}`)
          }
        }
      }
      // Earlier attacks leave endpoints, and an entity has room for a few only.
      for (const id of await endpointsOf(host.url, token)) await remove(host.url, token, id)
      const ids: string[] = []
      for (let no = 0; no < 8; no += 1) {
        const url = `http://127.0.0.1:${inner.port}/${no}`
        const made = await ask(host.url, '/v1/webhooks', { url })
        if (made.status !== 200) throw new Error(`no endpoint was made: ${made.body}`)
        ids.push(String(saidIn(made).id))
      }
      const held = await hold(host.url, token, ids, profile === 'full' ? 600 : 60, inner.most)
      if (inner.most() > 3) find('one token holds many connections', `${inner.most()} at once`)
      const waitedMs = await untilNone(inner.open)
      if (waitedMs === undefined)
        find('tests continue after their clients left', `${inner.open()} open`)
      inner.answer()
      const tested = await ask(host.url, `/v1/webhooks/${ids[0]}/test`, {})
      if (!tested.body.includes('418')) find('a test does not report the status', tested.body)
      if (tested.body.includes(secret)) find('a test shows what this machine answers', tested.body)
      for (const id of ids) await remove(host.url, token, id)
      return {
        closed: 30,
        reached,
        tests: held.sent,
        refused: held.refused,
        'held at once': inner.most(),
      }
    } finally {
      await host.close()
      inner.close()
    }
  },
}

/** Sends all tests at once on separate connections, then leaves. */
async function hold(
  url: string,
  token: string,
  ids: readonly string[],
  count: number,
  most: () => number,
): Promise<{ sent: number; refused: number }> {
  let refused = 0
  const sockets = Array.from({ length: count }, (_, no) => {
    const socket = open(url)
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => {
      if (bytes.includes('HTTP/1.1 429')) refused += 1
    })
    socket.write(post(`/v1/webhooks/${ids[no % ids.length]}/test`, token, {}))
    return socket
  })
  const endMs = performance.now() + 15_000
  while (refused < count - 3 && most() <= 3 && performance.now() < endMs) await turn()
  for (const socket of sockets) socket.destroy()
  return { sent: count, refused }
}

async function untilNone(count: () => number): Promise<number | undefined> {
  const startMs = performance.now()
  while (performance.now() - startMs < 10_000) {
    if (count() === 0) return performance.now() - startMs
    await turn()
  }
  return undefined
}

const turn = () => new Promise((next) => setTimeout(next, 20))

async function endpointsOf(url: string, token: string): Promise<string[]> {
  const sent = { connections: 1, pipelined: 1, withinMs: 60_000 }
  const [answer] = await sendAll(url, [get(`/v1/webhooks?entityId=${own.channel}`, token)], sent)
  const { webhooks: listed } = JSON.parse(answer!.body) as { webhooks: readonly { id: string }[] }
  return listed.map(({ id }) => id)
}

async function remove(url: string, token: string, id: string): Promise<Answer | undefined> {
  const request = Buffer.from(
    `DELETE /v1/webhooks/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  )
  const sent = { connections: 1, pipelined: 1, withinMs: 60_000 }
  const [answer] = await sendAll(url, [request], sent)
  return answer
}
