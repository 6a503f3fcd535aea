const { randomUUID } = require('node:crypto')

/**
 * A small shop with a payment engine inside: its own Express app and its own database, one job of
 * its own, one event subscriber, and the gateway's REST surface mounted below /gateway.
 */
exports.openShop = async ({ tollgate, simulator, host, express, databaseUrl, keys, port }) => {
  const orders = new Map()

  // The shop's own job: runs on the engine's queue, is retried, and may run twice.
  const sendReceipt = {
    name: 'send-receipt',
    retry: { limit: 5, delaySeconds: 1 },
    async run({ orderId }) {
      const order = orders.get(orderId)
      if (order !== undefined) order.receipt = 'sent'
    },
  }

  const gateway = await tollgate.createGateway({
    name: 'shop',
    database: { url: databaseUrl, schema: 'shop_payments' },
    environment: 'test',
    keys: tollgate.localKeys(keys),
    plugins: [simulator],
    jobs: [sendReceipt],
  })

  // Told after the commit, in this process.
  const seen = []
  gateway.on((event) => seen.push(event.type))

  const channel = await demoChannel(gateway.entities)
  const app = express()
  app.use('/gateway', host.createHost(gateway).app)
  app.use(express.json())

  app.post('/orders', async (request, response) => {
    // Also the idempotency key, so no order may ever have the id of another one, also after a restart.
    const orderId = randomUUID()
    const payment = await gateway.payments.create(
      {
        entityId: channel,
        amount: '25.00',
        currency: 'EUR',
        paymentType: 'DB',
        merchantTransactionId: orderId,
        card: request.body.card,
      },
      { idempotencyKey: orderId },
    )
    const isPaid = payment.result.code.startsWith('000.100.1')
    orders.set(orderId, { payment: payment.id, paid: isPaid, why: payment.result.description })
    if (isPaid) await gateway.sendJob('send-receipt', { orderId }, { key: orderId })
    response.status(isPaid ? 201 : 402).json({ orderId, ...orders.get(orderId) })
  })
  app.get('/orders/:id', (request, response) => {
    const order = orders.get(request.params.id)
    if (order === undefined) response.status(404).json({ error: 'no such order' })
    else response.json({ ...order, events: seen })
  })
  // A refused request names each wrong field; the shop hands that on.
  app.use((error, _request, response, _next) => {
    response.status(400).json({ error: error.message, fields: error.parameterErrors ?? [] })
  })

  const server = await new Promise((listening) => {
    const opened = app.listen(port, '127.0.0.1', () => listening(opened))
  })
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async close() {
      await new Promise((closed) => {
        server.close(closed)
        server.closeIdleConnections()
      })
      await gateway.close()
    },
  }
}

/** The hierarchy that payments belong to; made at the first start. */
async function demoChannel(entities) {
  const known = (await entities.list()).find((entity) => entity.kind === 'channel')
  if (known !== undefined) return known.id
  const psp = await entities.create({ kind: 'psp', name: 'Shop' })
  const division = await entities.create({ kind: 'division', name: 'Shop', parentId: psp })
  const merchant = await entities.create({ kind: 'merchant', name: 'Shop', parentId: division })
  return entities.create({ kind: 'channel', name: 'Web', parentId: merchant })
}
