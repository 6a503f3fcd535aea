/** Messages of acquirers: stored first, acknowledged, then understood. */
import { type Claim, type Inbound, Sensitive } from '@tollgate/plugin-kit'
import { ConnectorCall } from '../connector/call.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { faultPoint } from '../fault-point.ts'
import { maskCardNumbers } from '../net/mask.ts'
import { processEvent } from './process.ts'
import { addEvent, type StoredClaim } from './store.ts'

/**
 * Takes one message for an account of a connector. When it returns, the message is stored.
 *
 * @throws GatewayError 404 for an unknown connector or account, 400 for what cannot be read.
 */
export async function receive(
  engine: Engine,
  connectorName: string,
  accountKey: string,
  message: Inbound,
): Promise<void> {
  const target = await engine.targets.inbound(connectorName, accountKey)
  const inbound = target?.loaded.connector.inbound
  if (target === undefined || inbound === undefined)
    throw new GatewayError('700.400.580', { status: 404 })
  const call = new ConnectorCall(engine.services, target, {
    deadlineMs: engine.clock.elapsedMs() + engine.connectorTimeoutMs,
    sendByWallMs: engine.clock.realMs() + engine.connectorTimeoutMs,
  })
  let claims: readonly Claim[]
  let verified: boolean
  try {
    verified = (await inbound.verify(message, call)) === true
    claims = inbound.parse(message)
  } catch {
    throw new GatewayError('200.100.103', { description: 'This is no message of the acquirer.' })
  }
  for (const claim of claims) {
    const stored = toStored(claim, verified)
    await faultPoint('before-event', claim.eventId)
    const rows = await engine.lanes.single(
      addEvent(connectorName, accountKey, claim.eventId, stored),
    )
    await faultPoint('after-event', claim.eventId)
    if (rows.length === 0) continue
    const row = {
      connector: connectorName,
      account: accountKey,
      event_id: claim.eventId,
      claim: stored,
    }
    engine.running.track(processEvent(engine, row)).catch(() => {})
  }
}

function toStored(claim: Claim, verified: boolean): StoredClaim {
  const text = JSON.stringify(claim.outcome, (_, value: unknown) =>
    typeof value === 'string' ? maskCardNumbers(value) : Sensitive.is(value) ? undefined : value,
  )
  return {
    key: claim.key,
    verified,
    outcome: JSON.parse(text),
    minor: String(claim.amount.minor),
    currency: claim.amount.currency,
  }
}
