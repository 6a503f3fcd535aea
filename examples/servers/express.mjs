import { once } from 'node:events'
import { createHost } from '@tollgate/host'
import express from 'express'
import { gateway, placeOrder, port, untilSignal } from './gateway.mjs'

const pay = createHost(gateway)
const app = express()

// Ahead of body parsers: the gateway reads bodies itself, with limits of its own.
app.use('/pay', pay.app)
app.use(express.json())
app.post('/orders', async (request, response) => {
  const { status, answer } = await placeOrder(request.body)
  response.status(status).json(answer)
})

const server = app.listen(port, '127.0.0.1', () => {
  untilSignal(server.address(), async () => {
    const closed = once(server.close(), 'close')
    await pay.close()
    await closed
  })
})
