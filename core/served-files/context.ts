/** The engine's side of a server that a plugin brings. */
import { Sensitive, type ServerContext, type ServerLogin } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { isId, newId } from '../ids.ts'
import { ReportFolder } from './folder.ts'
import { addServerKey, keyOfEntity, noteLogin, serverKey } from './store.ts'

export function serverContextOf({
  lanes,
  vault,
  log,
}: Pick<Engine, 'lanes' | 'vault' | 'log'>): ServerContext {
  const find = async (user: string, key: Uint8Array) => {
    if (!isId(user)) return undefined
    const [found] = await lanes.read(keyOfEntity(user, Buffer.from(key)))
    return found
  }
  return {
    log,
    async ownKey(name, make) {
      for (;;) {
        const [row] = await lanes.single(serverKey(name))
        if (row !== undefined) {
          const place = { table: 'server_key', id: row.id, ownerId: row.id } as const
          const bytes = await vault.openBytes(place, row.data_key_id, row.sealed)
          return new Sensitive(bytes.toString())
        }
        const id = newId()
        const place = { table: 'server_key', id, ownerId: id } as const
        const { dataKeyId, sealed } = vault.sealBytes(place, Buffer.from(make()))
        await lanes.single(addServerKey(id, name, dataKeyId, sealed))
      }
    },
    knows: async (user, key) => (await find(user, key)) !== undefined,
    async login(user, key): Promise<ServerLogin | undefined> {
      const found = await find(user, key)
      if (found === undefined) return undefined
      await lanes.single(noteLogin(found.id))
      return {
        entityId: user,
        merchantId: found.merchant_id,
        folder: new ReportFolder(lanes, user),
      }
    },
  }
}
