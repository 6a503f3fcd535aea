/**
 * Notifications without encryption. A merchant who set up encryption relies on it, so no token takes it away, or leads
 * plain notifications to another URL, or more of them: that takes an administrator, and two people where the
 * installation says so.
 */
import { actorOf } from '../audit/actor.ts'
import type { Caller } from '../caller/caller.ts'
import { refuseUnlessHolds } from '../caller/rights.ts'
import type { Engine } from '../engine.ts'
import type { ProposalUse } from '../four-eyes/stored-proposal.ts'
import { withoutSecrets } from '../redaction/harmless.ts'
import type { Endpoint } from './types.ts'

/** @throws GatewayError 403 naming the field · ConfirmationNeededError */
export async function agreedPlain(
  engine: Engine,
  caller: Caller,
  from: Pick<Endpoint, 'entityId'> & Partial<Endpoint>,
  to: Pick<Endpoint, 'url' | 'wrapper' | 'types'>,
): Promise<ProposalUse | null> {
  if (to.wrapper !== 'NONE') return null
  const name = changedOf(from, to)
  if (name === undefined) return null
  const message =
    name === 'wrapper'
      ? 'can be set to NONE, which is no encryption, by an operator only; TEXT and JSON encrypt'
      : `of notifications without encryption can be ${name === 'url' ? 'changed' : 'extended'} by an operator only, or together with wrapper TEXT or JSON`
  const operation = `${name} of a webhook endpoint without encryption`
  refuseUnlessHolds(engine, caller, 'administer', operation, { name, message })
  const { id = null, entityId } = from
  const { wrapper, types } = to
  const facts = { webhook: id, url: withoutSecrets(to.url), wrapper, types: types.toSorted() }
  // The URL may have a password, so the proposal only compares it.
  const deed = { kind: 'webhook.plain', entityId, facts, secrets: { url: to.url } } as const
  return engine.two.need(deed, actorOf(caller), caller.proposal)
}

/** What leads more in plain, or to elsewhere. */
function changedOf(
  from: Partial<Endpoint>,
  to: Pick<Endpoint, 'url' | 'types'>,
): 'wrapper' | 'url' | 'types' | undefined {
  if (from.wrapper !== 'NONE') return 'wrapper'
  if (to.url !== from.url) return 'url'
  return to.types.every((type) => from.types?.includes(type)) ? undefined : 'types'
}
