/** Two hosts at once on the same payment, and with the same idempotency key. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type Answer,
  type Client,
  isApproved,
  isPending,
  type Wish,
} from '../rig/installation/client.ts'
import { type Bystander, type Ground, layGround } from '../rig/installation/ground.ts'
import { inScope } from '../rig/scope.ts'

const count = (answers: readonly Answer[]): Record<string, number> => {
  const codes = Map.groupBy(answers, ({ code }) => (isApproved(code) ? 'approved' : code))
  return Object.fromEntries([...codes].map(([code, found]) => [code, found.length]))
}

const times = <T>(most: number, make: (index: number) => T): T[] =>
  Array.from({ length: most }, (_, index) => make(index))

const rounds = inScope(2, 4)
const repeats = inScope(40, 200)

describe('two hosts on the same payment', { concurrency: false }, () => {
  let ground: Ground
  let client: Client
  let hosts: readonly Bystander[]
  before(async () => {
    ground = await layGround()
    ;({ client } = ground)
    hosts = await Promise.all([ground.bystander('one'), ground.bystander('two')])
  })
  after(() => ground.close())

  /** Sends each wish once, all at the same time, alternating between the hosts. */
  async function atOnce(wishes: readonly Wish[]): Promise<Answer[]> {
    const answers = await Promise.all(
      wishes.map((wish, index) => client.send(wish, hosts[index % hosts.length]!)),
    )
    return answers.map((answer) => answer ?? assert.fail('a host did not answer'))
  }

  test('captures from both hosts use up an authorisation and never exceed it', async () => {
    const on = await client.approved('PA', 10_000, hosts)
    const answers = await atOnce(times(30, () => client.followUp('CP', on, 1_000)))
    assert.deepEqual(count(answers), { approved: 10, '700.400.100': 20 })
    await ground.check()
  })

  test('refunds from both hosts return the captured amount and never more', async () => {
    const on = await client.approved('DB', 10_000, hosts)
    const answers = await atOnce(times(30, () => client.followUp('RF', on, 1_000)))
    assert.deepEqual(count(answers), { approved: 10, '700.400.200': 20 })
    await ground.check()
  })

  test('of simultaneous captures and full reversals, one kind wins', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const on = await client.approved('PA', 10_000, hosts)
      const wishes = times(16, (index) =>
        index % 4 < 2 ? client.followUp('CP', on, 6_000) : client.followUp('RV', on),
      )
      const answers = await atOnce(wishes)
      const won = wishes.filter((_, index) => isApproved(answers[index]!.code))
      const captures = won.filter(({ type }) => type === 'CP').length
      const reversals = won.filter(({ type }) => type === 'RV').length
      assert.ok(captures <= 1 && reversals <= 1 && captures + reversals >= 1)
    }
    await ground.check()
  })

  test('of simultaneous refunds and reversals of one debit, one kind succeeds', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const on = await client.approved('DB', 9_000, hosts)
      const wishes = times(12, (index) =>
        index % 4 < 2 ? client.followUp('RF', on, 4_000) : client.followUp('RV', on),
      )
      const answers = await atOnce(wishes)
      const kinds = wishes.filter((_, index) => isApproved(answers[index]!.code))
      assert.equal(new Set(kinds.map(({ type }) => type)).size, 1)
    }
    await ground.check()
  })

  for (const type of ['DB', 'PA', 'PA.CP'] as const) {
    test(`one key, many times at once over both hosts, is one ${type}`, async () => {
      const wish = client.first(type, 9_200)
      const answers = await atOnce(times(repeats, () => wish))
      for (const { code, status } of answers) {
        assert.ok(isApproved(code) || isPending(code), `${status} ${code}`)
      }
      assert.ok(answers.some(({ code }) => isApproved(code)))
      const final = await client.insist(wish, hosts)
      assert.ok(isApproved(final.code))
      assert.ok(final.replayed)
      await ground.check()
    })
  }

  for (const [type, first] of [
    ['CP', 'PA'],
    ['RV', 'PA'],
    ['RF', 'DB'],
  ] as const) {
    test(`one key, many times at once over both hosts, is one ${type} of the whole`, async () => {
      const on = await client.approved(first, 9_200, hosts)
      const wish = client.followUp(type, on, 9_200)
      const answers = await atOnce(times(repeats, () => wish))
      const others = answers.filter(({ code }) => !isApproved(code) && !isPending(code))
      assert.deepEqual(count(others), {}, 'a repeat gets the answer of its key and no refusal')
      await ground.check()
    })
  }
})
