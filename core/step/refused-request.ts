/** A request that was refused has no payment. What operators may know of the reason stands under its own number. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { stepsOf } from '../transcript/store.ts'
import { inOrder, type Step } from '../transcript/types.ts'
import { exchangeOf } from './derive.ts'

/** @param ndc an id: the number in the response's `ndc` and `X-Request-Id`. Empty when nothing is known. */
export async function refusedRequest(engine: Engine, ndc: string): Promise<Step[]> {
  const rows = await engine.lanes.read(stepsOf(ndc, limits.shownSteps))
  return inOrder(rows.map((row) => exchangeOf(row, '', {}, 'operator')))
}
