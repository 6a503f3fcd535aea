/** The tries of reversals by key, by Adyen's reference of each: a failure can come later, and under any other name. */
import type { Json, Records } from '@tollgate/plugin-kit'
import type { Named } from './references.ts'
import type { Item } from './signature.ts'

type Try = Extract<Named, { is: 'undo' }>

const nameOf = (psp: string): string => `undo-try:${psp}`

/** Keeps which try Adyen calls by this reference. */
export async function rememberTry(
  records: Records,
  psp: string,
  key: string,
  round: number,
): Promise<void> {
  const known: Try = { is: 'undo', key, round }
  await records.swap(nameOf(psp), undefined, known as unknown as Json)
}

/** The try that a webhook names by Adyen's reference of it, or as the original of a failure with one of its own. */
export async function tryIn(
  records: Records,
  { pspReference, originalReference }: Pick<Item, 'pspReference' | 'originalReference'>,
): Promise<Try | undefined> {
  for (const psp of [pspReference, originalReference]) {
    const known = await records.get(nameOf(psp))
    if (known !== undefined) return known as unknown as Try
  }
  return undefined
}
