import { Readable } from 'node:stream'
import { createFetchHandler } from '@tollgate/host/fetch'
import Fastify from 'fastify'
import { gateway, placeOrder, port, untilSignal } from './gateway.mjs'

const pay = createFetchHandler(gateway, { basePath: '/pay' })
const app = Fastify()

app.register(
  async (scope) => {
    // The gateway reads bodies itself, with limits of its own, so here they stay streams.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body))
    scope.all('/*', (request, reply) => {
      const client = new AbortController()
      reply.raw.once('close', () => client.abort())
      const { method, raw, ip } = request
      const asked = new Request(new URL(raw.url ?? '/', 'http://shop.example'), {
        ...{ method, signal: client.signal },
        headers: Object.entries(raw.headers).map(([name, value]) => [name, String(value)]),
        body: request.body === undefined ? null : Readable.toWeb(raw),
        duplex: 'half',
      })
      return pay(asked, { address: ip })
    })
  },
  { prefix: '/pay' },
)
app.post('/orders', async (request, reply) => {
  const { status, answer } = await placeOrder(request.body)
  return reply.status(status).send(answer)
})

await app.listen({ port, host: '127.0.0.1' })
untilSignal(app.server.address(), async () => {
  const closed = app.close()
  await pay.close()
  await closed
})
