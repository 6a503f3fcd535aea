/** The installation that every fault test begins with: one channel with an account at the acquirer. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultSecret, simulatorHttp } from '../../../connectors/simulator/index.ts'
import { createGateway, localKeys } from '../../../core/index.ts'
import { definePlugin } from '@tollgate/plugin-kit'
import type { Template } from '../../support/database.ts'
import { testKey } from '../../support/gateway.ts'

const id = (last: number) => `fa${String(last).padStart(30, '0')}`
export const channelId = id(4)
/** The merchant's name at the acquirer. */
export const merchantId = 'shop'

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
      plugins: [
        definePlugin({ name: 'simulator-http', contract: 1, connectors: [simulatorHttp] }),
      ],
      // The account is only written here; each host says where its acquirer is.
      connectors: { 'simulator-http': { url: 'http://127.0.0.1:9' } },
      environment: 'test',
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
        id: id(3),
        parentId: division,
      })
      await entities.create({ kind: 'channel', name, id: channelId, parentId: merchant })
      await entities.createAccount({
        channelId,
        connector: 'simulator-http',
        mode: 'EXTERNAL',
        settings: { merchantId, secret: defaultSecret },
      })
    } finally {
      await gateway.close()
    }
  },
}
