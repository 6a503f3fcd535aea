import { once } from 'node:events'
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { createFetchHandler } from '@tollgate/host/fetch'
import { Hono } from 'hono'
import { gateway, placeOrder, port, untilSignal } from './gateway.mjs'

const pay = createFetchHandler(gateway, { basePath: '/pay' })
const app = new Hono()

app.all('/pay/*', (context) =>
  pay(context.req.raw, { address: getConnInfo(context).remote.address }),
)
app.post('/orders', async (context) => {
  const { status, answer } = await placeOrder(await context.req.json().catch(() => ({})))
  return context.json(answer, status)
})

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, (address) => {
  untilSignal(address, async () => {
    const closed = once(server.close(), 'close')
    await pay.close()
    await closed
  })
})
