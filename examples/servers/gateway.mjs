import simulator from '@tollgate/connector-simulator'
import { createGateway, GatewayError, localKeys } from '@tollgate/core'

export const gateway = await createGateway({
  database: { url: process.env.DATABASE_URL },
  environment: 'test',
  // Keep this secret outside the database: without it nobody can read the stored card numbers.
  keys: localKeys(process.env.TOLLGATE_KEYS),
  plugins: [simulator],
})

/** The shop's own part: a charge by the engine, without HTTP. A refused order names the fields that are wrong. */
export async function placeOrder(order) {
  const { amount, card } = Object(order)
  try {
    const payment = await gateway.payments.create({
      entityId: process.env.ENTITY_ID,
      ...{ amount, currency: 'EUR', paymentType: 'DB', card },
    })
    return { status: 200, answer: { payment: payment.id, code: payment.result.code } }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    const { status, code, message, parameterErrors } = error
    return { status, answer: { code, message, parameterErrors } }
  }
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
