/** The operations on webhook endpoints, for embedders and for the hosted surface alike. */
import { isDeepStrictEqual } from 'node:util'
import type { RequestFields } from '@tollgate/plugin-kit'
import { limits, resultDescription } from '@tollgate/schemas'
import { actorOf } from '../audit/actor.ts'
import { addAudit } from '../audit/store.ts'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import { type Facts, withoutSecrets } from '../redaction/harmless.ts'
import { refuse, textOf } from '../request/values.ts'
import type { Place } from '../vault/binding.ts'
import {
  encryptionKey,
  newEncryptionKey,
  newSigningSecret,
  signingKey,
} from '../vault/webhook-keys.ts'
import { sendNotification, type Underway } from './attempt.ts'
import { agreedPlain } from './plain.ts'
import { addEndpoint, changeEndpoint, endpointById, removeEndpoint, toEndpoint } from './store.ts'
import { probeNow } from './store-queue.ts'
import type { Endpoint, EndpointKeys, EndpointSecrets, Tried, Wrapper } from './types.ts'

/** An endpoint, with secrets that are shown this one time. */
export type Shown = { readonly endpoint: Endpoint; readonly secrets?: Partial<EndpointSecrets> }

/** The vault binds the secrets of an endpoint to this place. */
const placeOf = ({ id, entityId }: Pick<Endpoint, 'id' | 'entityId'>): Place => ({
  table: 'webhook_endpoint',
  id,
  ownerId: entityId,
})

/**
 * Registers a URL for notifications about an entity and all entities below it.
 *
 * @throws GatewayError 400 for a forbidden URL, 403 for an entity outside of the caller's rights.
 */
export async function createEndpoint(
  engine: Engine,
  caller: Caller,
  { fields }: Request,
): Promise<Shown> {
  const entityId = textOf(fields, 'entityId') ?? caller.entityId
  if (entityId === null) {
    throw refuse('200.300.404', 'entityId', 'is required: whose notifications are sent')
  }
  await engine.directory.mayName(caller, entityId)
  const id = newId()
  const secrets = { encryptionKey: newEncryptionKey(), signingSecret: newSigningSecret() }
  const sealed = engine.vault.seal(placeOf({ id, entityId }), secrets)
  const made = changesOf(engine, fields, {
    url: '',
    types: ['PAYMENT', 'REGISTRATION'],
    wrapper: 'TEXT',
    active: true,
  })
  const use = await agreedPlain(engine, caller, { entityId }, made)
  engine.setupChanges.count(caller)
  const [added] = await engine.lanes.single(
    addEndpoint({
      id,
      entityId,
      ...made,
      dataKeyId: sealed.dataKeyId,
      sealed: sealed.sealed,
      createdAt: new Date(engine.clock.realMs()),
      most: limits.webhooksPerEntity,
      audit: { actor: actorOf(caller), action: 'webhook.created', after: factsOf(made) },
      use,
    }),
  )
  if (added === undefined) {
    const most = `has ${limits.webhooksPerEntity} webhook endpoints already`
    throw refuse('200.300.404', 'entityId', most)
  }
  return { endpoint: await readEndpoint(engine, caller, id), secrets }
}

/** @throws GatewayError 404 also for removed endpoints, which callers can only view. */
export async function readEndpoint(engine: Engine, caller: Caller, id: string): Promise<Endpoint> {
  const endpoint = await lookAtEndpoint(engine, caller, id)
  if (endpoint.removedAt !== null) throw notThere('the webhook endpoint was removed')
  return endpoint
}

/** @throws GatewayError 404 alike for foreign and for unknown endpoints. */
export async function lookAtEndpoint(
  engine: Engine,
  caller: Caller,
  id: string,
): Promise<Endpoint> {
  const [row] = isId(id) ? await engine.lanes.single(endpointById(id)) : []
  if (row === undefined || !(await engine.directory.acts(caller, row.entity_id))) {
    throw notThere('there is no such webhook endpoint')
  }
  return toEndpoint(row)
}

const notThere = (why: string) =>
  new GatewayError('700.400.580', {
    status: 404,
    description: `${resultDescription('700.400.580')}: ${why}`,
  })

/** Changes the settings of an endpoint, or switches it on or off. Resets its failures. */
export async function updateEndpoint(
  engine: Engine,
  caller: Caller,
  id: string,
  { fields }: Request,
): Promise<Shown> {
  return change(engine, caller, id, async (endpoint) => {
    const to = changesOf(engine, fields, endpoint)
    return { ...to, secrets: null, use: await agreedPlain(engine, caller, endpoint, to) }
  })
}

/**
 * Creates a new signing secret, or a new encryption key on request. The previous one stays valid
 * for another day: the secret signs as well, and the key encrypts while the receiver accepts no
 * other.
 */
export async function rotateSecret(
  engine: Engine,
  caller: Caller,
  id: string,
  { fields }: Request,
): Promise<Shown> {
  const isEncryption = textOf(fields, 'key') === 'ENCRYPTION'
  const made: Partial<EndpointSecrets> = isEncryption
    ? { encryptionKey: newEncryptionKey() }
    : { signingSecret: newSigningSecret() }
  const { endpoint } = await change(engine, caller, id, async (found) => {
    const old = (await openSecrets(engine, found))!
    const before: Partial<EndpointSecrets> = isEncryption
      ? { previousEncryptionKey: old.encryptionKey }
      : { previousSecret: old.signingSecret }
    const secrets = { ...old, ...before, ...made }
    const { dataKeyId, sealed } = engine.vault.seal(placeOf(found), secrets)
    const until = new Date(engine.clock.realMs() + limits.webhookRotationMs)
    const previousUntil = isEncryption ? null : until
    const previousKeyUntil = isEncryption ? until : null
    return { ...found, secrets: { dataKeyId, sealed, previousUntil, previousKeyUntil }, use: null }
  })
  return { endpoint, secrets: made }
}

async function change(
  engine: Engine,
  caller: Caller,
  id: string,
  work: (endpoint: Endpoint) => Promise<Parameters<typeof changeEndpoint>[2]>,
): Promise<Shown> {
  for (let tries = 0; ; tries += 1) {
    const endpoint = await readEndpoint(engine, caller, id)
    const to = await work(endpoint)
    // A change without effect writes nothing, and leaves nothing in the audit trail.
    if (to.secrets === null && isDeepStrictEqual(settingsOf(to), settingsOf(endpoint)))
      return { endpoint }
    if (tries === 0) engine.setupChanges.count(caller)
    const now = new Date(engine.clock.realMs())
    const audit = {
      actor: actorOf(caller),
      action: actionOf(to.secrets),
      before: factsOf(endpoint),
      after: factsOf(to),
    }
    const [changed] = await engine.lanes.single(
      changeEndpoint(id, endpoint.version, to, now, audit),
    )
    if (changed !== undefined) return { endpoint: await readEndpoint(engine, caller, id) }
    // A concurrent change won, so its result decides.
  }
}

/** Removes an endpoint: waiting notifications are given up and stay in the log. */
export async function endEndpoint(engine: Engine, caller: Caller, id: string): Promise<Endpoint> {
  const endpoint = await readEndpoint(engine, caller, id)
  engine.setupChanges.count(caller)
  const removedAt = new Date(engine.clock.realMs())
  const actor = actorOf(caller)
  const audit = { actor, action: 'webhook.removed', before: factsOf(endpoint) }
  await engine.lanes.single(removeEndpoint(id, removedAt, audit))
  return { ...endpoint, active: false, removedAt }
}

function actionOf(secrets: Parameters<typeof changeEndpoint>[2]['secrets']): string {
  if (secrets === null) return 'webhook.changed'
  return secrets.previousKeyUntil === null ? 'webhook.secret-rotated' : 'webhook.key-rotated'
}

/** Interval between checks that the client of a test still waits. */
const lookMs = 100

/**
 * Sends a test notification now, also to a disabled endpoint, and returns the response. Always uses
 * the newest key, so that a test proves a rotation. Aborts when the client disconnects.
 *
 * @throws GatewayError 429 while another test of this endpoint runs, or three of this token.
 */
export async function testEndpoint(
  engine: Engine,
  caller: Caller,
  id: string,
  isGone: () => boolean = () => false,
): Promise<Tried> {
  const endpoint = await readEndpoint(engine, caller, id)
  return engine.webhookTests.within(caller, id, async () => {
    const secrets = await openSecrets(engine, endpoint)
    const messageId = newId()
    engine.setupChanges.count(caller)
    // The audit trail records the test before the call, regardless of its result.
    await engine.lanes.single(
      addAudit({
        actor: actorOf(caller),
        action: 'webhook.tested',
        entityId: endpoint.entityId,
        resource: id,
        detail: { url: withoutSecrets(endpoint.url) },
      }),
    )
    const body = JSON.stringify({ type: 'test', payload: {} })
    const message = { id: messageId, sequence: 1, body }
    const underway: Underway = new Set()
    const looking = setInterval(() => {
      if (isGone()) for (const call of underway) call.finish()
    }, lookMs)
    try {
      const tried = await sendNotification(engine, endpoint, keysOf(secrets!), message, underway)
      if (tried.delivered) {
        await engine.lanes.single(probeNow(endpoint.id, new Date(engine.clock.realMs())))
      }
      return tried
    } finally {
      clearInterval(looking)
    }
  })
}

/** Null when the endpoint has no secrets. @throws GatewayError when the vault is closed. */
export async function openSecrets(
  engine: Engine,
  endpoint: Endpoint,
): Promise<EndpointSecrets | null> {
  const { sealed } = endpoint
  if (sealed === null) return null
  const opened = await engine.vault.open(placeOf(endpoint), sealed.dataKeyId, sealed.bytes)
  return opened as unknown as EndpointSecrets
}

/** Keys that are parsed once for many messages. */
export const keysOf = (secrets: EndpointSecrets): EndpointKeys => ({
  encryption: encryptionKey(secrets.encryptionKey),
  previousEncryption:
    secrets.previousEncryptionKey === undefined
      ? undefined
      : encryptionKey(secrets.previousEncryptionKey),
  signing: signingKey(secrets.signingSecret),
  previous: secrets.previousSecret === undefined ? undefined : signingKey(secrets.previousSecret),
})

type Changes = Pick<Endpoint, 'url' | 'types' | 'wrapper' | 'active'>

const settingsOf = ({ url, types, wrapper, active }: Changes): Changes => ({
  url,
  types,
  wrapper,
  active,
})

/** The endpoint's settings in the audit trail. */
const factsOf = ({ url, types, wrapper, active }: Changes): Facts => ({
  url: withoutSecrets(url),
  types,
  wrapper,
  active,
})

function changesOf(engine: Engine, fields: RequestFields, before: Changes): Changes {
  const url = textOf(fields, 'url') ?? before.url
  const check = engine.checkUrl(url)
  if (!check.ok) throw refuse('200.300.404', 'url', check.why, url)
  const types = textOf(fields, 'types')?.split(',')
  return {
    url,
    types: types === undefined ? before.types : [...new Set(types)],
    wrapper: (textOf(fields, 'wrapper') ?? before.wrapper) as Wrapper,
    active: (textOf(fields, 'active') ?? String(before.active)) === 'true',
  }
}
