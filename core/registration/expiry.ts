import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { tellExpiry } from './store.ts'

/** Announces that an account expires. Safe to run twice: the event's commit deletes the timer. */
export async function noteExpiry(engine: Engine, registrationId: string): Promise<void> {
  const id = newId()
  const [told] = await engine.lanes.single(tellExpiry(registrationId, id))
  if (told === undefined || !engine.events.wanted) return
  engine.events.emit({
    id,
    type: 'registration.expiring',
    resource: registrationId,
    channelId: told.channel_id,
    sequence: told.seq,
    at: new Date(engine.clock.realMs()),
    data: told.data,
  })
}
