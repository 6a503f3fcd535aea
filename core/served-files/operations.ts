/** Operations on SFTP keys: raw call in, status and body out. */
import {
  type Answered,
  bodyOf,
  type Call,
  type Handler,
  idIn,
  listResult,
  queryOf,
  type Reply,
  type Request,
  read,
} from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import { wireTimestamp } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { bare, nextOf } from '../report-delivery/view.ts'
import { aboutNow } from '../webhook/operations.ts'
import type { About } from '../webhook/view.ts'
import { createSftpKey, endSftpKey, listSftpKeys } from './keys.ts'
import { fingerprintOf } from './public-key.ts'
import type { KeyRow } from './store.ts'

export type SftpKeyView = Answered & {
  fingerprint: string
  keyType: string
  name?: string
  entityId: string
  createdAt: string
  lastUsedAt?: string
  removedAt?: string
}

export type SftpKeysView = Answered & { keys: SftpKeyView[]; nextCursor?: string }

const keyView = (row: KeyRow, about: About): SftpKeyView => ({
  ...bare(row.id, about),
  fingerprint: fingerprintOf(row.public_key),
  keyType: row.type,
  ...(row.name === null ? {} : { name: row.name }),
  entityId: row.entity_id,
  createdAt: wireTimestamp(row.created_at),
  ...(row.last_used_at === null ? {} : { lastUsedAt: wireTimestamp(row.last_used_at) }),
  ...(row.removed_at === null ? {} : { removedAt: wireTimestamp(row.removed_at) }),
})

type Work = (
  engine: Engine,
  caller: Caller,
  id: string,
  request: Request,
  about: About,
) => Promise<object>

/** The function behind each operation, and its response. */
export const sftpKeyWork: Readonly<Record<string, Work>> = {
  'sftpKeys.create': async (engine, caller, _, request, about) =>
    keyView(await createSftpKey(engine, caller, request), about),
  'sftpKeys.list': async (engine, caller, _, request, about) => {
    const page = await listSftpKeys(engine, caller, request)
    const keys = page.entries.map((key) => keyView(key, about))
    return { ...bare(newId(), about), result: listResult(), keys, ...nextOf(page) }
  },
  'sftpKeys.remove': async (engine, caller, id, _, about) =>
    keyView(await endSftpKey(engine, caller, id), about),
}

export const sftpKeyOperations: Readonly<Record<string, Handler>> = Object.fromEntries(
  Object.entries(sftpKeyWork).map(([operation, work]) => [
    operation,
    async (engine: Engine, caller: Caller, call: Call, build: string): Promise<Reply> => {
      const input = operation === 'sftpKeys.create' ? bodyOf(call) : queryOf(call)
      const request = await read(engine, caller, operation, input)
      const about = aboutNow(engine, call.requestId, build)
      const body = await work(engine, caller, idIn(call), request, about)
      return { status: 200, headers: {}, body: { ...body } }
    },
  ]),
)
