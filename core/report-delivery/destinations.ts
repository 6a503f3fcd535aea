/** The operations on report destinations, for embedders and for the hosted surface alike. */
import { isDeepStrictEqual } from 'node:util'
import { limits, resultDescription } from '@tollgate/schemas'
import { actorOf } from '../audit/actor.ts'
import { addAudit } from '../audit/store.ts'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import type { Facts } from '../redaction/harmless.ts'
import { reportFile } from '../report/open.ts'
import { refuse, textOf } from '../request/values.ts'
import { placeOf, tryDestination } from './attempt.ts'
import { hasSecret, secretIn, settingsOf } from './destination-settings.ts'
import { readDestinationUrl } from './destination-url.ts'
import {
  addDestination,
  changeDestination,
  destinationById,
  removeDestination,
  replayFiles,
  type StoredSettings,
  toDestination,
} from './store.ts'
import type { Destination, DestinationSecret, Replayed, Tried } from './types.ts'

/**
 * Registers a folder for the report files of an entity.
 *
 * @throws GatewayError 400 for a forbidden URL or an incomplete login, 403 for an entity outside of the
 * caller's rights.
 */
export async function createDestination(
  engine: Engine,
  caller: Caller,
  { fields }: Request,
): Promise<Destination> {
  const entityId = textOf(fields, 'entityId') ?? caller.entityId
  if (entityId === null) {
    throw refuse('200.300.404', 'entityId', 'is required: whose report files are delivered')
  }
  await engine.directory.mayName(caller, entityId)
  const id = newId()
  // Before a private key is read, which takes time also when it is refused.
  engine.setupChanges.count(caller)
  const secret = secretIn(fields)
  if (secret === undefined) {
    throw refuse('200.300.404', 'login.password', 'is required, or login.privateKey')
  }
  const settings = settingsOf(engine, fields, secret, {
    ...{ url: '', user: '', login: 'PASSWORD', hostKeys: [], certificate: null },
    ...{ raw: false, active: true },
  })
  const sealed = engine.vault.seal(placeOf({ id, entityId }), { ...secret })
  const [added] = await engine.lanes.single(
    addDestination({
      ...{ ...settings, id, entityId },
      ...{ dataKeyId: sealed.dataKeyId, sealed: sealed.sealed },
      createdAt: new Date(engine.clock.realMs()),
      most: limits.reportDestinationsPerEntity,
      audit: {
        actor: actorOf(caller),
        action: 'report-destination.created',
        after: factsOf(settings),
      },
    }),
  )
  if (added === undefined) {
    const most = `has ${limits.reportDestinationsPerEntity} report destinations already`
    throw refuse('200.300.404', 'entityId', most)
  }
  return readDestination(engine, caller, id)
}

/** @throws GatewayError 404 also for removed destinations, which callers can only view. */
export async function readDestination(
  engine: Engine,
  caller: Caller,
  id: string,
): Promise<Destination> {
  const destination = await lookAtDestination(engine, caller, id)
  if (destination.removedAt !== null) throw notThere('the report destination was removed')
  return destination
}

/** @throws GatewayError 404 alike for foreign and for unknown destinations. */
export async function lookAtDestination(
  engine: Engine,
  caller: Caller,
  id: string,
): Promise<Destination> {
  const [row] = isId(id) ? await engine.lanes.single(destinationById(id)) : []
  if (row === undefined || !(await engine.directory.acts(caller, row.entity_id))) {
    throw notThere('there is no such report destination')
  }
  return toDestination(row)
}

const notThere = (why: string) =>
  new GatewayError('700.400.580', {
    status: 404,
    description: `${resultDescription('700.400.580')}: ${why}`,
  })

/** Changes a destination, or switches it on or off. Forgets its failures. */
export async function updateDestination(
  engine: Engine,
  caller: Caller,
  id: string,
  { fields }: Request,
): Promise<Destination> {
  let secret: DestinationSecret | undefined
  for (let tries = 0; ; tries += 1) {
    const found = await readDestination(engine, caller, id)
    if (tries === 0 && hasSecret(fields)) {
      engine.setupChanges.count(caller)
      secret = secretIn(fields)
    }
    const to = settingsOf(engine, fields, secret, found)
    if (secret === undefined) keepTheServer(engine, found, to)
    // A change without effect writes nothing, and leaves nothing in the audit trail.
    if (secret === undefined && isDeepStrictEqual(factsOf(to), factsOf(found))) return found
    if (tries === 0 && secret === undefined) engine.setupChanges.count(caller)
    const sealed = secret === undefined ? null : engine.vault.seal(placeOf(found), { ...secret })
    const [changed] = await engine.lanes.single(
      changeDestination(
        id,
        found.version,
        { ...to, dataKeyId: sealed?.dataKeyId ?? null, sealed: sealed?.sealed ?? null },
        !isDeepStrictEqual(serverOf(to), serverOf(found)),
        {
          actor: actorOf(caller),
          action: 'report-destination.changed',
          before: factsOf(found),
          after: factsOf(to),
          ...(secret === undefined ? {} : { detail: { login: 'replaced' } }),
        },
      ),
    )
    if (changed !== undefined) return readDestination(engine, caller, id)
    // A concurrent change won, so its result decides.
  }
}

/** Everything that says where files arrive. A server that was replaced has another key. */
const serverOf = ({ url, user, hostKeys, certificate }: StoredSettings) => ({
  ...{ url, user, hostKeys, certificate },
})

/**
 * A stored login goes to no other server than the one that it was given for: else a token without it could
 * send it to a server of its own.
 */
function keepTheServer(engine: Engine, found: Destination, to: StoredSettings): void {
  const server = ({ url }: Pick<Destination, 'url'>) => {
    const { scheme, host, port } = readDestinationUrl(engine, url).place
    return { scheme, host, port }
  }
  const pinned = ({ hostKeys, certificate }: StoredSettings) => ({ hostKeys, certificate })
  const isSame = to.url === found.url || isDeepStrictEqual(server(to), server(found))
  if (isSame && isDeepStrictEqual(pinned(to), pinned(found))) return
  throw refuse(
    '200.300.404',
    found.login === 'KEY' ? 'login.privateKey' : 'login.password',
    'is required again when the server, its host key or its certificate changes',
  )
}

/** Removes a destination: waiting files are given up and stay in the log. */
export async function endDestination(
  engine: Engine,
  caller: Caller,
  id: string,
): Promise<Destination> {
  const destination = await readDestination(engine, caller, id)
  engine.setupChanges.count(caller)
  const removedAt = new Date(engine.clock.realMs())
  await engine.lanes.single(
    removeDestination(id, removedAt, {
      actor: actorOf(caller),
      action: 'report-destination.removed',
      before: factsOf(destination),
    }),
  )
  return { ...destination, active: false, removedAt }
}

/**
 * Stores a small file at a destination now and removes it, also when the destination is switched off.
 *
 * @throws GatewayError 429 while another test of this destination runs, or two of this token.
 */
export async function testDestination(engine: Engine, caller: Caller, id: string): Promise<Tried> {
  const destination = await readDestination(engine, caller, id)
  return engine.reportTests.within(caller, id, async () => {
    engine.setupChanges.count(caller)
    // The audit trail records the test before the call, regardless of its result.
    await engine.lanes.single(
      addAudit({
        actor: actorOf(caller),
        action: 'report-destination.tested',
        entityId: destination.entityId,
        resource: id,
        detail: { url: destination.url },
      }),
    )
    return tryDestination(engine, destination, newId(), engine.inFlight.ending)
  })
}

/**
 * Delivers report files of the destination's entity again.
 *
 * @throws GatewayError 404 alike for foreign and for unknown files.
 */
export async function replayReports(
  engine: Engine,
  caller: Caller,
  id: string,
  { fields }: Request,
): Promise<Replayed> {
  const destination = await readDestination(engine, caller, id)
  if (!destination.active) {
    throw refuse('200.300.404', 'id', 'the destination is switched off: set active to true first')
  }
  const fileId = textOf(fields, 'fileId') ?? null
  if (fileId !== null && !isId(fileId)) {
    throw refuse('200.300.404', 'fileId', 'must be the id of a report file', fileId)
  }
  if (fileId !== null && (await reportFile(engine, fileId))?.entityId !== destination.entityId) {
    throw notThere('there is no such report file')
  }
  const fromNo = textOf(fields, 'fromNo')
  const which = {
    fileId,
    fromNo: fromNo === undefined ? null : Number(fromNo),
    isDead: textOf(fields, 'which') === 'DEAD',
  }
  engine.setupChanges.count(caller)
  const [done] = await engine.lanes.single(
    replayFiles(id, newId(), which, limits.reportFilesPerReplay, {
      actor: actorOf(caller),
      action: 'report-destination.replayed',
      detail: which,
    }),
  )
  return { replayed: done!.replayed, nextNo: done!.next_no ?? undefined }
}

/** The settings of a destination in the audit trail. */
const factsOf = (settings: StoredSettings): Facts => {
  const { url, user, login, hostKeys, certificate, raw, active } = settings
  return { url, user, login, hostKeys, certificate, raw, active }
}
