/** Each rule of matching, by payments of the engine and a line of a file. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { shortNo } from '../../../core/ids.ts'
import { cases, type Made, type PaymentOf } from './matching-cases.ts'
import { type MatchingRun, startMatching } from './matching-run.ts'

describe('a line of a settlement file finds its payments', () => {
  let run: MatchingRun
  before(async () => {
    run = await startMatching()
  })
  after(() => run.close())

  for (const [index, given] of cases.entries()) {
    test(given.rule, async () => {
      await run.forget()
      const made: Record<string, Made> = {}
      for (const [name, payment] of Object.entries(given.payments)) {
        made[name] = await make(run, `case-${index}-${payment.shares ?? name}`, payment, made)
      }
      const idOf = (name: string) => made[name]!.id
      const record = await run.recordOf(given.line(made))
      const matches = Object.entries(given.matches ?? {})
      const { key: _key, ...found } = record
      assert.deepEqual(found, {
        status: given.status,
        tier: given.tier ?? null,
        matches: Object.fromEntries(matches.map(([name, minor]) => [idOf(name), minor])),
        candidates: (given.candidates ?? matches.map(([name]) => name)).map(idOf).sort(),
        count: (given.candidates ?? matches).length,
        discrepancies: given.discrepancies ?? [],
        effect: given.effect ?? 'none',
      })
    })
  }
})

async function make(
  run: MatchingRun,
  reference: string,
  { type, of, amount = '92.00', currency = 'EUR', shares, script, fields = {} }: PaymentOf,
  made: Readonly<Record<string, Made>>,
): Promise<Made> {
  if (script !== undefined) run.acquirer.tell(reference, script)
  const money = type === 'RV' ? {} : { amount, currency }
  const view =
    of === undefined
      ? await run.pay({
          ...{ paymentType: type, ...money, testMode: 'EXTERNAL' },
          ...{ merchantTransactionId: reference, ...fields },
        })
      : await run.gateway.payments.followUp(made[of]!.id, {
          ...{ paymentType: type, ...money },
          ...(shares === undefined ? {} : { merchantTransactionId: reference }),
        } as never)
  assert.notEqual(shortNo(view.shortId), undefined)
  return { id: view.id, key: await run.keyOf(view.id), shortId: view.shortId, reference }
}
