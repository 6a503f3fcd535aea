/**
 * Presses with the token of a wallet. Work on a token takes far longer than on a number, and anybody can make
 * tokens that are refused: so each refusal is a try, and no more tokens are opened at once than tries are left.
 */
import type { Request } from '../call.ts'
import type { Engine } from '../engine.ts'
import { encryptedWallet } from '../request/account.ts'
import { textOf } from '../request/values.ts'
import { find, held, stateOf, triesLeft } from './find.ts'
import { digestOf } from './refused-press.ts'
import { replyOfState, type Submitted } from './reply.ts'
import { wasRefused } from './store.ts'

/** Presses with a token under way in this process, by checkout. */
const ofEngines = new WeakMap<Engine, Map<string, number>>()

/** @param pay Pays, or counts a refusal. */
export async function withToken(
  engine: Engine,
  id: string,
  submitted: Request,
  pay: () => Promise<Submitted>,
): Promise<Submitted> {
  const { fields, names } = submitted
  const field = encryptedWallet(fields)
  if (field === undefined) return pay()
  const nonce = textOf(fields, 'nonce')
  const [known] = await engine.lanes.single(wasRefused(id, digestOf(engine, id, names)))
  if (known?.was === true) {
    const now = await held(engine, id)
    if ((await stateOf(engine, now)) !== 'free') return replyOfState(engine, now, nonce)
    return { state: 'invalid', errors: [{ field: `${field}.paymentToken`, reason: 'invalid' }] }
  }
  const left = await triesLeft(engine, await find(engine, id))
  const underWay = ofEngines.get(engine) ?? new Map<string, number>()
  ofEngines.set(engine, underWay)
  const before = underWay.get(id) ?? 0
  if (before > 0 && before >= left) return replyOfState(engine, await held(engine, id), nonce)
  underWay.set(id, before + 1)
  try {
    return await pay()
  } finally {
    const after = underWay.get(id)! - 1
    if (after === 0) underWay.delete(id)
    else underWay.set(id, after)
  }
}
