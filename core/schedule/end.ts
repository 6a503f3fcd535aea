import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { tellEnd } from './store-fire.ts'

/**
 * Tells that a schedule ended, after its last execution began or failed.
 *
 * @returns whether nothing is left to do.
 */
export async function noteEnd(engine: Engine, scheduleId: string): Promise<boolean> {
  const id = newId()
  const [told] = await engine.lanes.single(tellEnd(scheduleId, id))
  if (told === undefined) return false
  if (engine.events.wanted) {
    engine.events.emit({
      id,
      type: 'schedule.ended',
      resource: scheduleId,
      channelId: told.channel_id,
      sequence: told.seq,
      at: new Date(engine.clock.realMs()),
      data: {},
    })
  }
  return true
}
