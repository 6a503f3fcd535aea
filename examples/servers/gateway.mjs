import simulator from '@tollgate/connector-simulator'
import { createGateway, localKeys } from '@tollgate/core'

export const gateway = await createGateway({
  database: { url: process.env.DATABASE_URL },
  environment: 'test',
  // Keep this secret outside the database: without it nobody can read the stored card numbers.
  keys: localKeys(process.env.TOLLGATE_KEYS),
  plugins: [simulator],
})

/** The shop's own part: a charge by the engine, without HTTP. */
export async function placeOrder({ amount, card }) {
  const payment = await gateway.payments.create({
    entityId: process.env.ENTITY_ID,
    ...{ amount, currency: 'EUR', paymentType: 'DB', card },
  })
  return { payment: payment.id, code: payment.result.code }
}

export const port = Number(process.env.PORT ?? 3000)

/** Prints where the shop is, and ends it on a signal: first the server, then the engine. */
export function untilSignal(address, close) {
  console.log(`http://127.0.0.1:${address.port}`)
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, async () => {
      await close()
      await gateway.close()
    })
  }
}
