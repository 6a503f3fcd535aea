/** Stores a settlement file that arrives, sealed, before anything of it is read. */

import type { Settlement } from '@tollgate/plugin-kit'
import { type Actor, engineActor } from '../audit/actor.ts'
import { addAudit } from '../audit/store.ts'
import type { Mode } from '../connector/registry.ts'
import type { Engine } from '../engine.ts'
import type { AccountRow } from '../entity/store.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { maskEscapedNumbers } from '../redaction/mask.ts'
import { type Merchant, merchantsOf, scopeOf, settlementOf } from './scope.ts'
import { type StoredBytes, storeBytes } from './sealed-file.ts'
import { acceptedWith, addFile, dropParts } from './store-file.ts'

/** The longest name of a file that is kept. */
const nameCharacters = 255

/** A file on its way in. */
export type Arrival = {
  readonly connector: string
  readonly mode: Mode
  /** The account by which the file comes; null for the simulator. */
  readonly accountId: string | null
  readonly merchant: Merchant
  readonly clockId?: string | null
  /** The channel of the account, for the audit trail. */
  readonly entityId: string
  readonly name: string
  readonly source: 'fetch' | 'import' | 'simulator'
  readonly skipsBad?: boolean
  /** The entity of the caller, whose merchants the file may name; null, or absent: all. */
  readonly reachEntityId?: string | null
  /** For the audit trail; the engine itself by default. */
  readonly by?: Actor
}

export type Received = {
  readonly fileId: string
  readonly scopeId: string
  /** The bytes of a file that was accepted before; nothing happens. */
  readonly isRepeat: boolean
  readonly bytes: number
}

/** The file has no bytes. */
export class EmptyFile extends Error {
  override readonly name = 'EmptyFile'
}

/** @throws FileTooLarge, EmptyFile · GatewayError 500.100.401 for a connector without settlement files. */
export async function receive(
  engine: Pick<Engine, 'lanes' | 'vault' | 'registry'>,
  arrival: Arrival,
  stream: AsyncIterable<Uint8Array>,
): Promise<Received> {
  const { connector, mode, merchant, clockId = null } = arrival
  const settlement = settlementOf(engine, connector)
  const scopeId = await scopeOf(engine, connector, mode, merchant, clockId)
  const id = newId()
  let isKept = false
  try {
    const stored = await storeBytes(engine, id, stream)
    if (stored.bytes === 0) throw new EmptyFile('the file is empty')
    const [earlier] = await engine.lanes.single(acceptedWith(scopeId, stored.sha256))
    if (earlier !== undefined) {
      return { fileId: earlier.id, scopeId, isRepeat: true, bytes: stored.bytes }
    }
    await add(engine, arrival, settlement, { id, scopeId, stored })
    isKept = true
    await faultPoint('settlement-stored', id)
    return { fileId: id, scopeId, isRepeat: false, bytes: stored.bytes }
  } finally {
    // The housekeeping deletes what a failure leaves here.
    if (!isKept) await engine.lanes.upkeep(dropParts(id)).catch(() => {})
  }
}

async function add(
  engine: Pick<Engine, 'lanes'>,
  arrival: Arrival,
  settlement: Settlement,
  { id, scopeId, stored }: { id: string; scopeId: string; stored: StoredBytes },
): Promise<void> {
  const { connector, accountId, source, by = engineActor } = arrival
  const name = maskEscapedNumbers(
    arrival.name.toWellFormed().replaceAll('\u0000', '').slice(0, nameCharacters),
  )
  const skipsBad = arrival.skipsBad ?? false
  await engine.lanes.together(
    addFile({
      id,
      scopeId,
      accountId,
      connector,
      institute: settlement.institute,
      format: settlement.format,
      name,
      source,
      sha256: stored.sha256,
      bytes: stored.bytes,
      parts: stored.parts,
      skipsBad,
    }),
    [
      addAudit({
        actor: by,
        action: source === 'import' ? 'settlement.imported' : 'settlement.fetched',
        entityId: arrival.entityId,
        resource: id,
        detail: { name, account: accountId, bytes: stored.bytes, skipsBadLines: skipsBad },
      }),
    ],
  )
}

/** The merchant of an account; undefined when the connector derives no merchant number from it. */
export async function merchantOfAccount(
  engine: Pick<Engine, 'lanes' | 'registry' | 'targets'>,
  { id, connector, mode }: Pick<AccountRow, 'id' | 'connector' | 'mode'>,
): Promise<Merchant | undefined> {
  const merchants = [...(await merchantsOf(engine, connector, mode)).values()]
  return merchants.find(({ accountIds }) => accountIds.includes(id))
}
