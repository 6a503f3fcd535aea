/** Payments and entries within channels; others do not exist for the channels' operators. */

import { attentionWithin } from '../attention/store.ts'
import type { Engine } from '../engine.ts'
import { isId } from '../ids.ts'
import { captureToCome } from '../payment/capture-to-come.ts'
import { paymentById } from '../payment/store-read.ts'
import { executionById } from '../step/store-read.ts'

type Channels = readonly string[] | null

/** A payment, the capture of one that does not exist yet, a chargeback, or an execution of a schedule. */
export async function isDecidedWithin(
  engine: Engine,
  id: string,
  channels: Channels,
): Promise<boolean> {
  if (!isId(id)) return false
  const { lanes } = engine
  if ((await lanes.read(paymentById(id, channels))).length > 0) return true
  if ((await captureToCome(engine, id, channels)) !== undefined) return true
  return (await lanes.read(executionById(id, channels))).length > 0
}

export async function isEntryWithin(
  { lanes }: Engine,
  id: string,
  channels: Channels,
): Promise<boolean> {
  return isId(id) && (await lanes.read(attentionWithin(id, channels))).length > 0
}
