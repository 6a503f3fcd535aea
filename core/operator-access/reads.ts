/** How many lists are read at once: one operator, or one entity, does not make the others wait. */
import { limits } from '@tollgate/schemas'
import { GatewayError } from '../errors.ts'
import type { Person } from './types.ts'

export class OfficeReads {
  readonly #underWay = new Map<string, number>()

  /** @throws GatewayError 429 when the person, or the entity that they belong to, reads enough already. */
  async reading<T>({ id, entityId }: Person, read: () => Promise<T>): Promise<T> {
    const counted: readonly (readonly [string, number])[] = [
      [`person ${id}`, limits.officeReadsPerPerson],
      [`entity ${entityId ?? 'all'}`, limits.officeReadsPerEntity],
    ]
    if (counted.some(([name, most]) => (this.#underWay.get(name) ?? 0) >= most)) {
      throw new GatewayError('800.120.100', {
        status: 429,
        retryAfterSeconds: 1,
        description: 'too many requests, try again later: other lists are being read for you',
      })
    }
    for (const [name] of counted) this.#count(name, 1)
    try {
      return await read()
    } finally {
      for (const [name] of counted) this.#count(name, -1)
    }
  }

  #count(name: string, by: number): void {
    const count = (this.#underWay.get(name) ?? 0) + by
    if (count > 0) this.#underWay.set(name, count)
    else this.#underWay.delete(name)
  }
}
