/** An embedder's process: the engine as it is installed, without HTTP, at an acquirer that takes its time. */
import { setTimeout as pause } from 'node:timers/promises'
import simulator from '@tollgate/connector-simulator'
import { createGateway, localKeys } from '@tollgate/core'
import config from './slow-acquirer.config.js'

const { BENCH_DATABASE: url = '', BENCH_KEYS: keys = '', BENCH_ENTITY: entityId = '' } = process.env
const gateway = await createGateway({
  database: { url },
  plugins: [simulator, ...config.plugins],
  connectors: config.connectors,
  environment: 'test',
  keys: localKeys(keys),
})

/** Keeps `concurrent` payments under way for `seconds`, and resolves when each has its answer. */
async function carryOut({ concurrent, seconds, delayMs }) {
  const until = performance.now() + seconds * 1000
  const report = { sent: 0, approved: 0 }
  const lane = async (which) => {
    await pause((which / concurrent) * delayMs)
    while (performance.now() < until) {
      report.sent += 1
      const wait = Math.round(delayMs * (0.5 + Math.random()))
      const { result } = await gateway.payments.create({
        entityId,
        testMode: 'EXTERNAL',
        amount: '92.00',
        currency: 'EUR',
        paymentBrand: 'VISA',
        paymentType: 'DB',
        card: {
          number: '4200000000000000',
          holder: 'Jane Jones',
          expiryMonth: '05',
          expiryYear: '2034',
          cvv: '123',
        },
        customParameters: { SIM_DELAY_MS: String(wait) },
      })
      if (result.code === '000.100.112') report.approved += 1
    }
  }
  await Promise.all(Array.from({ length: concurrent }, (_, which) => lane(which)))
  return report
}

process.on('message', (order) => carryOut(order).then((report) => process.send(report)))
process.on('disconnect', async () => {
  await gateway.close()
  process.exit()
})
process.send({})
