/** The operations on keys that read report files by SFTP. */
import { limits, resultDescription } from '@tollgate/schemas'
import { actorOf } from '../audit/actor.ts'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import { cursorOf, limitOf, type Page, pageOf } from '../page/by-id.ts'
import { readSlowly } from '../query/read-limiter.ts'
import { refuse, textOf } from '../request/values.ts'
import { fingerprintOf, readPublicKey } from './public-key.ts'
import { addKey, type KeyRow, keyById, keysOf, removeKey } from './store.ts'

/**
 * Lets a public key read the report files of an entity.
 *
 * @throws GatewayError 400 for an unfit key, 403 for an entity outside of the caller's rights.
 */
export async function createSftpKey(
  engine: Engine,
  caller: Caller,
  { fields }: Request,
): Promise<KeyRow> {
  const entityId = textOf(fields, 'entityId') ?? caller.entityId
  if (entityId === null) {
    throw refuse('200.300.404', 'entityId', 'is required: whose report files the key reads')
  }
  await engine.directory.mayName(caller, entityId)
  const key = readPublicKey(textOf(fields, 'publicKey')!)
  if (typeof key === 'string') throw refuse('200.300.404', 'publicKey', key)
  const id = newId()
  const name = textOf(fields, 'name') ?? null
  engine.setupChanges.count(caller)
  const [added] = await engine.lanes.single(
    addKey({
      ...{ id, entityId, name, publicKey: key.bytes, type: key.type },
      createdAt: new Date(engine.clock.realMs()),
      most: limits.sftpKeysPerEntity,
      audit: {
        actor: actorOf(caller),
        action: 'sftp-key.created',
        after: { fingerprint: fingerprintOf(key.bytes), type: key.type, name },
      },
    }),
  )
  if (added === undefined) {
    const why = `is known for this entity, or the entity has ${limits.sftpKeysPerEntity} keys already`
    throw refuse('200.300.404', 'publicKey', why)
  }
  return readKey(engine, caller, id)
}

/** @throws GatewayError 404 alike for foreign and for unknown keys. */
async function readKey(engine: Engine, caller: Caller, id: string): Promise<KeyRow> {
  const [row] = isId(id) ? await engine.lanes.single(keyById(id)) : []
  if (row !== undefined && (await engine.directory.acts(caller, row.entity_id))) return row
  throw new GatewayError('700.400.580', {
    status: 404,
    description: `${resultDescription('700.400.580')}: there is no such SFTP key`,
  })
}

/** Keys of one entity, newest first. */
export async function listSftpKeys(
  engine: Engine,
  caller: Caller,
  { fields }: Request,
): Promise<Page<KeyRow>> {
  const entityId = textOf(fields, 'entityId') ?? caller.entityId
  if (entityId !== null) await engine.directory.mayName(caller, entityId)
  const limit = limitOf(fields)
  const isWhole = textOf(fields, 'removed') === 'true'
  const rows = await readSlowly(
    engine.lanes,
    await engine.directory.merchantBehind(caller),
    keysOf(entityId, isWhole, cursorOf(fields), limit + 1),
  )
  return pageOf(rows, limit)
}

/** Ends the rights of a key. Its connections end when they open the next file. A removed key stays removed. */
export async function endSftpKey(engine: Engine, caller: Caller, id: string): Promise<KeyRow> {
  const key = await readKey(engine, caller, id)
  if (key.removed_at !== null) return key
  engine.setupChanges.count(caller)
  await engine.lanes.single(
    removeKey(id, new Date(engine.clock.realMs()), {
      actor: actorOf(caller),
      action: 'sftp-key.removed',
      before: { fingerprint: fingerprintOf(key.public_key), type: key.type, name: key.name },
    }),
  )
  return readKey(engine, caller, id)
}
