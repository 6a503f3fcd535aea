import type { Claim, Inbound, Json, Operation, Records } from '@tollgate/plugin-kit'
import type { Scene } from '../scene.ts'

export type Fields = Readonly<Record<string, Json>>

export const undo = async ({ stage }: Scene, operation: Operation) =>
  (await stage.reverseByKey(operation)).outcome

/** The acquirer ends what it took, by its own rules, and tells so. */
export async function ended(
  { adyen, tell }: Scene,
  key: string,
  as: 'by itself' | 'failed' | 'done' = 'by itself',
) {
  adyen.ledger.endUndo(key, as)
  return (await tell(adyen.messageAbout(key))).map(({ outcome }) => outcome.is)
}

export const pathsOf = ({ adyen }: Scene) =>
  adyen.exchanges.map(({ path }) => path.split('/').at(-1)).slice(-1)[0]

/** Calls the connector, and does something else once it is about to write a record of this name, or wrote it. */
export async function beside<Result>(
  { stage }: Scene,
  name: string,
  when: 'before' | 'after',
  other: () => Promise<unknown>,
  run: (context: Parameters<Parameters<Scene['stage']['call']>[0]>[0]) => Promise<Result>,
): Promise<Result> {
  let isMet = false
  const meet = async (is: typeof when, at: string) => {
    if (isMet || is !== when || !at.startsWith(name)) return
    isMet = true
    await other()
  }
  const { returned, thrown } = await stage.call((context) => {
    const { records } = context
    const swap: Records['swap'] = async (at, before, value) => {
      await meet('before', at)
      const wrote = await records.swap(at, before, value)
      await meet('after', at)
      return wrote
    }
    return run({ ...context, records: { ...records, swap } })
  })
  if (!isMet) throw new Error(`nothing writes ${name}`)
  if (returned === undefined) throw thrown
  return returned
}

/** An account of its own, with records of its own. */
export function otherAccount({ stage }: Scene) {
  const known = new Map<string, Json>()
  const records: Records = {
    get: async (name) => known.get(name),
    async swap(name, before, value) {
      if (JSON.stringify(known.get(name)) !== JSON.stringify(before)) return false
      known.set(name, value as Json)
      return true
    },
  }
  return async (message: Inbound): Promise<readonly Claim[]> => {
    const { returned } = await stage.call((context) =>
      stage.connector.inbound!.parse(message, { ...context, records }),
    )
    return returned ?? []
  }
}
