/** The installation of every fault test: one channel with an account at the acquirer. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultSecret } from '../../../connectors/simulator/server.ts'
import { createGateway, localKeys } from '../../../core/index.ts'
import type { Template } from '../database.ts'
import { testKey } from '../gateway.ts'
import acquirer, {
  authenticatorName,
  connectorsAt,
  withoutReversalByKey,
} from './acquirer-plugin.ts'

const id = (last: number) => `fa${String(last).padStart(30, '0')}`
export const merchantEntityId = id(3)
export const channelId = id(4)
/** A channel whose acquirer has no reversal by key. */
export const plainChannelId = id(5)
/** Another merchant of the same installation, who must see nothing of the first. */
export const strangerEntityId = id(6)
/** Channels whose shoppers are authenticated, at each of the two acquirers. */
export const shopperChannelId = id(8)
export const plainShopperChannelId = id(9)
/** Where shoppers come back to; the tests send them to any host. */
export const publicUrl = 'http://pay.example'
/** The merchant's name at the acquirer, and the one of channels without reversal by key: its days are not settled. */
export const merchantId = 'shop'
export const plainMerchantId = 'plain'

/** All shoppers of a test share one address and a few cards. */
const ofShoppers = {
  threeDSecure: 'on',
  cardTestingNumber: 0,
  cardTestingAddress: 0,
  cardTestingBin: 0,
  cardTestingChannel: 0,
}

const core = join(import.meta.dirname, '../../../core')

function contentHash(): string {
  const hash = createHash('sha256').update(readFileSync(import.meta.filename))
  for (const file of globSync('db/migrations/*.sql', { cwd: core }).sort()) {
    hash.update(readFileSync(join(core, file)))
  }
  return hash.update(readFileSync(join(core, 'package.json'))).digest('hex')
}

/** A migrated database with the channel and its account. */
export const installed: Template = {
  name: `faults ${contentHash()}`,
  async make(url) {
    const gateway = await createGateway({
      database: { url },
      plugins: [acquirer],
      // The account is only stored here; each host configures the address of its acquirer.
      connectors: connectorsAt('http://127.0.0.1:9'),
      environment: 'test',
      allowLoopbackForMerchants: true,
      keys: localKeys(testKey),
      role: 'api',
    })
    try {
      const { entities } = gateway
      const name = 'Faults'
      const psp = await entities.create({ kind: 'psp', name, id: id(1) })
      const division = await entities.create({
        kind: 'division',
        name,
        id: id(2),
        parentId: psp,
      })
      const merchant = await entities.create({
        kind: 'merchant',
        name,
        id: merchantEntityId,
        parentId: division,
      })
      await entities.create({
        kind: 'merchant',
        name: 'Stranger',
        id: strangerEntityId,
        parentId: division,
      })
      await entities.create({
        kind: 'channel',
        name: 'Stranger',
        id: id(7),
        parentId: strangerEntityId,
      })
      const channels = [
        { id: channelId, connector: 'simulator-http' },
        { id: plainChannelId, connector: withoutReversalByKey },
        { id: shopperChannelId, connector: 'simulator-http', settings: ofShoppers },
        { id: plainShopperChannelId, connector: withoutReversalByKey, settings: ofShoppers },
      ]
      for (const { id, connector, settings } of channels) {
        const more = settings === undefined ? {} : { settings }
        await entities.create({ kind: 'channel', name, parentId: merchant, id, ...more })
        const names = settings === undefined ? [connector] : [connector, authenticatorName]
        for (const one of names) {
          await entities.createAccount({
            channelId: id,
            connector: one,
            mode: 'EXTERNAL',
            settings: {
              merchantId: one === withoutReversalByKey ? plainMerchantId : merchantId,
              secret: defaultSecret,
            },
          })
        }
      }
    } finally {
      await gateway.close()
    }
  },
}
