/**
 * A worker in its own process that sends the notifications of others. Started by webhooks.test.ts.
 */
import { createGateway, localKeys } from '../../core/index.ts'
import { freshSimulator, testKey } from '../rig/gateway.ts'

const gateway = await createGateway({
  database: { url: process.argv[2] ?? '' },
  plugins: [freshSimulator()],
  environment: 'test',
  allowLoopbackForMerchants: true,
  keys: localKeys(testKey),
  role: 'worker',
  migrate: false,
  shutdownGraceMs: 2_000,
})
process.on('message', () => {
  void gateway.close().then(() => process.disconnect())
})
process.send?.('ready')
