/** What rules about the order of words ask and tell. */
import assert from 'node:assert/strict'
import type { Operation } from '@tollgate/plugin-kit'
import {
  newReference,
  type Payment,
  type Undo,
} from '../../../../connectors/adyen/sandbox/ledger.ts'
import {
  authorisationItem,
  type Item,
  undoItem,
} from '../../../../connectors/adyen/sandbox/messages.ts'
import { judge } from '../../../../connectors/adyen/undo-judgement.ts'
import { wordsOf } from '../../../../connectors/adyen/undo-record.ts'
import { has, type Scene } from '../scene.ts'
import { undo } from './reversing.ts'

export const lost = {
  reaches: true,
  damage: { do: 'replace', status: 500, type: 'text/plain', body: '' },
} as const

export const refusal = (status: number, errorType: string) => {
  const body = JSON.stringify({ status, errorCode: '000', errorType, message: 'No' })
  return {
    reaches: false,
    damage: { do: 'replace', status, type: 'application/json', body },
  } as const
}

export const wordsOn = async ({ adyen, tell }: Scene, item: Item) =>
  (await tell(adyen.message(item))).map(({ outcome }) => outcome.is)

export const done = (made: Undo, payment?: Payment): Item =>
  undoItem({ ...made, state: 'done' }, payment)
export const failed = (made: Undo, payment?: Payment): Item =>
  undoItem({ ...made, state: 'failed' }, payment)
export const returned = (success: Item): Item => ({ ...success, eventCode: 'REFUND_FAILED' })
export const nameless = (item: Item): Item => ({ ...item, originalReference: '' })

export const triesOf = ({ adyen }: Scene, { key }: Operation) =>
  adyen.ledger.undos.filter(({ of }) => of === key)

export const judged = async ({ stage }: Scene, { key }: Operation) => {
  const { returned: words } = await stage.call(({ records }) => wordsOf(records, key))
  return judge(words!)
}

export const isAskedBy = ({ adyen }: Scene, { pspReference }: Payment) =>
  adyen.exchanges.at(-1)!.path.includes(`/${pspReference}/reversals`)

/** A payment, told as authorised. */
export async function paid(scene: Scene, kind: 'authorize' | 'debit') {
  const { operation } = await scene.paid(kind)
  const one = scene.adyen.ledger.byReference(operation.key)!
  await wordsOn(scene, authorisationItem(one))
  return { operation, one }
}

/** A second payment of its name; told unless the test does so. */
export function another({ adyen }: Scene, one: Payment): Payment {
  return adyen.ledger.add({ ...one, pspReference: newReference(), isUndone: false })
}

/** Adyen carried out the first try, whose answer was lost. Its repeat met a refused login, so there is a second one. */
export async function triedTwice(scene: Scene, operation: Operation) {
  const { stage } = scene
  stage.front.meet(lost, 'any')
  has(await undo(scene, operation), { is: 'unknown' }, 'a lost answer')
  stage.front.meet(refusal(401, 'security'), 'any')
  has(await undo(scene, operation), { is: 'unknown' }, 'a refused login')
  has(await undo(scene, operation), { is: 'requested' }, 'the second try')
  const [first, second] = triesOf(scene, operation)
  assert.equal(second?.reference, `undo2.${operation.key}`)
  return [first!, second] as const
}

/** A try of one payment that took it back. */
export async function takenBack(scene: Scene) {
  const { operation, one } = await paid(scene, 'debit')
  await undo(scene, operation)
  const success = done(triesOf(scene, operation)[0]!, one)
  assert.deepEqual(await wordsOn(scene, success), ['reversed'])
  return { operation, one, success }
}

export const byHand = (success: Item): Item => ({
  ...success,
  pspReference: newReference(),
  merchantReference: success.merchantReference.replace(/^undo\d+\./, ''),
})

export const orders = <Word>(words: readonly Word[]): Word[][] =>
  words.length === 0
    ? [[]]
    : words.flatMap((word, at) => orders(words.toSpliced(at, 1)).map((others) => [word, ...others]))
