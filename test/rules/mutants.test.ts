/** A mistake that is to be put into a source fits it: otherwise its assertion is no longer proven able to fail. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'
import { mutants } from '../faults/mutants.ts'
import { type Patch, place, withMistake } from '../faults/patch.ts'
import { root } from '../rig/sources.ts'

/** Why a patch makes no mistake in the engine; undefined when it does. */
function sentenceOf(patch: Patch): string | undefined {
  try {
    const { file } = place(patch)
    const mistaken = withMistake(readFileSync(path.join(root, file), 'utf8'), patch)
    return isTypeScript(mistaken) ? undefined : `${file} is no TypeScript with the mistake in it`
  } catch (error) {
    return (error as Error).message
  }
}

function isTypeScript(text: string): boolean {
  try {
    stripTypeScriptTypes(text)
    return true
  } catch {
    return false
  }
}

test('every mistake of a mutant fits the declaration that it names', () => {
  assert.ok(mutants.length > 20)
  const wrong = mutants.flatMap(({ mistake, patches }) =>
    patches.map(sentenceOf).flatMap((why) => (why === undefined ? [] : `${mistake}: ${why}`)),
  )
  assert.deepEqual(wrong, [])
})

const source = `/** Pays. */
export async function pay(amount: bigint): Promise<void> {
  if (amount > limit &&
    amount > 0n) return
  await send(amount)
}

export class Sender {
  #settle(): void {
    this.done = true
  }

  close(): void {
    this.done = true
  }
}
`

test('a patch finds its text in the declaration alone, however its lines are broken', () => {
  const wrapped = { of: 'pay', find: 'amount > limit && amount > 0n', put: 'false' }
  assert.match(withMistake(source, wrapped), /if \(false\) return/)
  const member = { of: 'Sender.#settle', find: 'true', put: 'false' }
  assert.match(withMistake(source, member), /#settle\(\): void {\n {4}this.done = false/)
  assert.match(withMistake(source, member), /close\(\): void {\n {4}this.done = true/)
})

test('a patch that does not fit says why', () => {
  const throws = (patch: Patch, sentence: string) =>
    assert.throws(() => withMistake(source, patch), { message: sentence })
  throws({ of: 'refund', find: 'x', put: '' }, 'core declares no refund')
  throws({ of: 'pay', find: 'this.done', put: '' }, 'pay does not hold the text "this.done"')
  throws({ of: 'Sender', find: 'true', put: '' }, 'Sender holds 2 times, not once, the text "true"')
  assert.equal(
    sentenceOf({ of: 'lateWords', find: "declined: 'fail',", put: '{' }),
    'core/payment/late-word-table.ts is no TypeScript with the mistake in it',
  )
})
