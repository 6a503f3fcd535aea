/**
 * The engine without HTTP in a process that also generates the load, so that a call is a function
 * call.
 */
import simulator from '../../connectors/simulator/index.ts'
import { createGateway, localKeys } from '../../core/index.ts'
import { type Load, measure } from './latencies.ts'
import { paymentRequest } from './payment.ts'

export type EmbeddedOrder = { readonly concurrent: number; readonly durationMs: number }
export type EmbeddedReport = Load | { readonly failure: string }

const { BENCH_DATABASE: url = '', BENCH_KEYS: keys = '', BENCH_ENTITY: entityId = '' } = process.env
const gateway = await createGateway({
  database: { url },
  plugins: [simulator],
  environment: 'test',
  keys: localKeys(keys),
})

async function carryOut({ concurrent, durationMs }: EmbeddedOrder): Promise<EmbeddedReport> {
  try {
    return await measure(concurrent, durationMs, async (no) => {
      const payment = await gateway.payments.create(paymentRequest(entityId, no))
      if (payment.result.code !== '000.100.110') throw new Error(payment.result.code)
    })
  } catch (error) {
    return { failure: String(error) }
  }
}

process.on('message', (order: EmbeddedOrder) => {
  carryOut(order).then((report) => process.send?.(report))
})
process.on('disconnect', async () => {
  await gateway.close()
  process.exit()
})
process.send?.({})
