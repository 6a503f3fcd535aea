import { once } from 'node:events'
import { serve } from '@hono/node-server'
import { createFetchHandler } from '@tollgate/host/fetch'
import { gateway, placeOrder, port, untilSignal } from './gateway.mjs'

const pay = createFetchHandler(gateway, { basePath: '/pay' })

/** Any function of a Request is a router. */
async function route(request, client) {
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/pay/')) return pay(request, client)
  if (pathname === '/orders' && request.method === 'POST') {
    const { status, answer } = await placeOrder(await request.json().catch(() => ({})))
    return Response.json(answer, { status })
  }
  return new Response('not found', { status: 404 })
}

const server = serve(
  {
    fetch: (request, { incoming }) => route(request, { address: incoming.socket.remoteAddress }),
    hostname: '127.0.0.1',
    port,
  },
  (address) => {
    untilSignal(address, async () => {
      const closed = once(server.close(), 'close')
      await pay.close()
      await closed
    })
  },
)
