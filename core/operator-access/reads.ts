/** How many lists are read at once: one operator, or one entity, does not make the others wait. */
import { limits } from '@tollgate/schemas'
import { AtOnce } from '../process/at-once.ts'
import type { Person } from './types.ts'

export class OfficeReads {
  readonly #lists = new AtOnce('other lists are being read for you')

  /** @throws GatewayError 429 when the person, or the entity that they belong to, reads enough already. */
  reading<T>({ id, entityId }: Person, read: () => Promise<T>): Promise<T> {
    const counted = [
      [`person ${id}`, limits.officeReadsPerPerson],
      [`entity ${entityId ?? 'all'}`, limits.officeReadsPerEntity],
    ] as const
    return this.#lists.run(counted, read)
  }
}
