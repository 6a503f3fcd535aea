import type { Json, Operation } from '@tollgate/plugin-kit'
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
