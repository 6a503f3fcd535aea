/** A streamed answer waits for its client, and its work ends with the client. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { ReplyStream } from '../../../core/index.ts'
import { sendStream } from '../../../host/http/answer-stream.ts'

const chunk = Buffer.alloc(64 * 1024, 'a')
/** More than all buffers between server and client hold. */
const most = 8_192

/** Counted chunks, almost without end. */
function endless() {
  const counted = { made: 0, isEnded: false }
  async function* chunks() {
    try {
      for (; counted.made < most; counted.made += 1) yield chunk
    } finally {
      counted.isEnded = true
    }
  }
  const stream: ReplyStream = { type: 'text/plain', open: chunks }
  return { counted, stream }
}

async function serving(listener: RequestListener, work: (port: number) => Promise<void>) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await work((server.address() as AddressInfo).port)
  } finally {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
}

async function stalled(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'readable')
  return socket
}

/** A number, once it stays the same. */
async function steady(read: () => number): Promise<number> {
  for (let last = read(), same = 0; ; ) {
    await turn()
    same = read() === last ? same + 1 : 0
    if (same === 2_000) return last
    last = read()
  }
}

const answering =
  (
    stream: ReplyStream,
    done: (sent: Promise<void>) => void,
    mayRead = async () => {},
  ): RequestListener =>
  (request, response) => {
    const { socket } = request
    const moved = () => {}
    const receiver = { response, socket, requestId: 'r', closing: false, moved, mayRead }
    done(sendStream(receiver, 200, stream, {}))
  }

test('a client that does not read stops the work, one that goes on reading continues it', async () => {
  const { counted, stream } = endless()
  await serving(
    answering(stream, (sent) => void sent),
    async (port) => {
      const socket = await stalled(port)
      const made = await steady(() => counted.made)
      assert.ok(made > 0 && made < most / 2, String(made))
      assert.equal(counted.isEnded, false)
      let bytes = 0
      for await (const some of socket) {
        bytes += some.length
        if (bytes > 2 * made * chunk.length) break
      }
      assert.ok(counted.made > made)
    },
  )
})

test('a client that goes ends the work, also while it waits', async () => {
  const { counted, stream } = endless()
  const sent = Promise.withResolvers<void>()
  await serving(
    answering(stream, (done) => void done.then(sent.resolve, sent.reject)),
    async (port) => {
      const socket = await stalled(port)
      await steady(() => counted.made)
      socket.destroy()
      await sent.promise
      assert.equal(counted.isEnded, true)
      assert.ok(counted.made < most / 2)
    },
  )
})

test('an answer ends with its connection once the client may read no more', async () => {
  const { counted, stream } = endless()
  const sent = Promise.withResolvers<void>()
  let mayRead = true
  const look = async () => {
    if (!mayRead) throw new Error('revoked')
  }
  await serving(
    answering(stream, (done) => void done.then(sent.resolve, sent.reject), look),
    async (port) => {
      const socket = await stalled(port)
      const made = await steady(() => counted.made)
      mayRead = false
      socket.resume()
      await sent.promise
      await once(socket, 'close')
      assert.equal(counted.isEnded, true)
      assert.ok(counted.made <= made + 1, `${made}, then ${counted.made}`)
    },
  )
})

test('an answer that waits behind another one ends with their connection', async () => {
  const { counted, stream } = endless()
  const sent = Promise.withResolvers<void>()
  let requests = 0
  const second = answering(stream, (done) => void done.then(sent.resolve, sent.reject))
  await serving(
    (request, response) => {
      requests += 1
      // The first one is never answered.
      if (requests === 2) second(request, response)
    },
    async (port) => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2))
      while (requests < 2) await turn()
      socket.destroy()
      await sent.promise
      assert.equal(counted.isEnded, true)
    },
  )
})

test('an error before the first piece leaves the answer open for the error', async () => {
  const sent = Promise.withResolvers<boolean>()
  const stream: ReplyStream = {
    type: 'text/plain',
    // biome-ignore lint/correctness/useYield: it fails before its first piece
    async *open() {
      throw new Error('broken')
    },
  }
  await serving(
    (request, response) =>
      answering(stream, (done) => {
        done.catch((error) => {
          assert.equal(error.message, 'broken')
          sent.resolve(response.headersSent)
          response.end()
        })
      })(request, response),
    async (port) => {
      await fetch(`http://127.0.0.1:${port}/`)
      assert.equal(await sent.promise, false)
    },
  )
})
