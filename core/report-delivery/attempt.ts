/** One connection to a destination. */
import {
  type OutgoingFile,
  type Put,
  Sensitive,
  TransferError,
  type TransferSession,
} from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import type { Place } from '../vault/binding.ts'
import { readDestinationUrl } from './destination-url.ts'
import type { Destination, Tried } from './types.ts'

/** The vault binds the secret of a destination to this place. */
export const placeOf = ({ id, entityId }: Pick<Destination, 'id' | 'entityId'>): Place => ({
  table: 'report_destination',
  id,
  ownerId: entityId,
})

/** Takes a file to a destination. Never throws: every failure is a result of the attempt. */
export function deliverFile(
  engine: Engine,
  destination: Destination,
  file: OutgoingFile,
  signal: AbortSignal,
): Promise<Tried> {
  return tried(engine, destination, signal, (session) => session.put(file))
}

/** Stores a small file at a destination and removes it. Never throws. */
export function tryDestination(
  engine: Engine,
  destination: Destination,
  id: string,
  signal: AbortSignal,
): Promise<Tried> {
  const bytes = Buffer.from('A test of Tollgate. This file can be removed.\n')
  const name = `tollgate-test-${id}.txt`
  return tried(engine, destination, signal, async (session) => {
    const put = await session.put({
      name,
      bytes: bytes.length,
      async *open() {
        yield bytes
      },
      isRenaming: false,
      async renaming() {},
    })
    await session.remove(name)
    return put
  })
}

async function tried(
  engine: Engine,
  destination: Destination,
  signal: AbortSignal,
  work: (session: TransferSession) => Promise<Put>,
): Promise<Tried> {
  const { clock } = engine
  const at = new Date(clock.realMs())
  const startedMs = clock.elapsedMs()
  const ended = () => ({ at, durationMs: Math.round(clock.elapsedMs() - startedMs) })
  const limited = AbortSignal.any([signal, AbortSignal.timeout(limits.transferMs)])
  let session: TransferSession | undefined
  try {
    session = await open(engine, destination, limited)
    const result = await work(session)
    return { ...ended(), result, message: null, delivered: true }
  } catch (error) {
    const { code, message } = asTransferError(engine, error)
    return { ...ended(), result: code, message: message.slice(0, 500), delivered: false }
  } finally {
    await session?.close().catch(() => {})
  }
}

async function open(
  engine: Engine,
  destination: Destination,
  signal: AbortSignal,
): Promise<TransferSession> {
  const { place, transfer } = readDestinationUrl(engine, destination.url)
  const { dataKeyId, bytes } = destination.sealed
  const secret = await engine.vault.open(placeOf(destination), dataKeyId, bytes)
  const { password, privateKey } = secret as Partial<Record<'password' | 'privateKey', string>>
  return transfer.open(
    {
      ...place,
      user: destination.user,
      ...(password === undefined ? {} : { password: new Sensitive(password) }),
      ...(privateKey === undefined ? {} : { privateKey: new Sensitive(privateKey) }),
      hostKeys: destination.hostKeys,
      ...(destination.certificate === null ? {} : { ca: destination.certificate }),
    },
    { addressOf: engine.merchantAddress, stepMs: limits.transferStepMs, signal },
  )
}

/** Errors of other kinds stay in the log: their texts could quote anything. */
function asTransferError(engine: Engine, error: unknown): TransferError {
  if (TransferError.is(error)) return error
  if (error instanceof GatewayError) {
    const [first] = error.parameterErrors ?? []
    const why =
      first === undefined ? 'the login cannot be opened now' : `${first.name} ${first.message}`
    return new TransferError(first === undefined ? 'source' : 'refused-address', why)
  }
  const kind = error instanceof Error ? error.name : 'unknown'
  engine.log.warn({ error: kind }, 'a report file could not be delivered')
  return new TransferError(
    'protocol',
    'the transfer broke off; the log of the gateway has the cause',
  )
}
