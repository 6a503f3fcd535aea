/** With four eyes, no single person loosens a setting of an entity that protects shoppers or merchants. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { protections } from '../../../core/entity/protections.ts'
import { ConfirmationNeededError, type Gateway, type Person } from '../../../core/index.ts'
import { rightsOfRole } from '../../../core/operator-access/types.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { enrol } from '../../rig/operators.ts'

/** Each protection: from stricter to looser. Undefined: no entity sets it. */
const looser: Readonly<Record<string, readonly unknown[]>> = {
  threeDSecure: ['on', undefined],
  threeDSecureUnavailable: [undefined, 'continue'],
  cvvRequired: [true, false],
  oneClickCvv: [true, false],
  checkoutTries: [5, undefined, 20],
  widgetOrigins: [[], ['https://a.example'], ['https://a.example', 'https://b.example']],
  showFingerprint: [undefined, true],
  distinctNumbers: [5, 6, 0],
  distinctNumbersHours: [48, undefined, 1],
  scheduleIntervalSeconds: [60, 59, undefined],
  cardTestingNumber: [5, undefined, 8, 0],
  cardTestingAddress: [5, 6, undefined],
  cardTestingBin: [5, 6, 0],
  cardTestingChannel: [5, 6, 0],
  cardTestingToken: [5, 6, 0],
}

describe('settings that protect, with four eyes', () => {
  let run: TestGateway
  let strict: Gateway
  let setUp: Gateway
  let bob: Person

  before(async () => {
    run = await startGateway({
      ...{ role: 'api', fourEyes: true, passwordLogRounds: 8, cardTesting: { number: 7 } },
    })
    strict = run.gateway
    setUp = await run.another({ fourEyes: false })
    const { id } = await enrol(setUp, 'bob', 'admin')
    const rights = rightsOfRole('admin')
    bob = { id, name: 'bob', role: 'admin', entityId: null, rights, since: new Date() }
  })
  after(() => run.close())

  const by = { kind: 'system-user', id: '0', name: 'root' } as const
  const channel = (settings: Record<string, unknown> = {}) =>
    setUp.entities.create({ kind: 'channel', name: 'Shop', parentId: run.merchant, settings })
  const settingsOf = async (id: string) => (await strict.entities.get(id))?.settings

  async function proposed(work: () => Promise<unknown>): Promise<string> {
    return work().then(
      () => assert.fail('one person was enough'),
      (error) => {
        assert.ok(error instanceof ConfirmationNeededError, String(error))
        return error.proposal
      },
    )
  }

  test('every protection is loosened by two people, and tightened by one', async () => {
    assert.deepEqual(Object.keys(looser).sort(), Object.keys(protections).sort())
    const given = (name: string, value: unknown) => (value === undefined ? {} : { [name]: value })
    for (const [name, values] of Object.entries(looser)) {
      for (const [at, to] of values.entries()) {
        if (at === 0) continue
        const from = values[at - 1]
        const id = await channel(given(name, from))
        await proposed(() => strict.entities.configure(id, { [name]: to ?? null }, { by }))
        assert.deepEqual(await settingsOf(id), given(name, from), name)
        const other = await channel(given(name, to))
        await strict.entities.configure(other, { [name]: from ?? null }, { by })
        assert.deepEqual(await settingsOf(other), given(name, from), name)
      }
    }
  })

  test('a first list of origins needs two people, because shoppers are led to its pages, and so does taking a list away', async () => {
    const set = async (from: unknown, to: unknown) => {
      const id = await channel(from === undefined ? {} : { widgetOrigins: from })
      return strict.entities.configure(id, { widgetOrigins: to }, { by })
    }
    await proposed(() => set(undefined, ['https://a.example']))
    await proposed(() => set(undefined, ['http://a.example']))
    await proposed(() => set(['https://a.example'], null))
    await set(undefined, [])
    await set(['https://a.example', 'https://b.example'], ['https://b.example'])
  })

  test('the change that was agreed on is carried out, once and from the values that both saw', async () => {
    const id = await channel({ threeDSecure: 'on', cvvRequired: true })
    const off = (proposal?: string) =>
      strict.entities.configure(id, { threeDSecure: 'off' }, { by, proposal })
    const proposal = await proposed(() => off())
    const shown = (await strict.people.proposals()).find((one) => one.id === proposal)
    assert.deepEqual(shown?.facts, {
      ...{ entity: id, name: 'Shop', settings: { threeDSecure: 'off' } },
      ...{ was: { threeDSecure: 'on' }, loosens: ['threeDSecure'] },
    })
    await strict.people.confirm(proposal, { by: bob })
    const more = { threeDSecure: 'off', cvvRequired: false }
    await assert.rejects(strict.entities.configure(id, more, { by, proposal }), /something else/)
    await off(proposal)
    assert.deepEqual(await settingsOf(id), { threeDSecure: 'off', cvvRequired: true })
    await strict.entities.configure(id, { threeDSecure: 'on' }, { by })
    await assert.rejects(off(proposal), /carried out before/)
  })

  test('a value from above counts: taking an own value away may loosen, and so may setting one', async () => {
    const merchant = await setUp.entities.create({
      ...{ kind: 'merchant', name: 'Careful', parentId: run.division },
      settings: { threeDSecure: 'on', cvvRequired: false },
    })
    const id = await setUp.entities.create({
      ...{ kind: 'channel', name: 'Shop', parentId: merchant, settings: { cvvRequired: true } },
    })
    await proposed(() => strict.entities.configure(id, { threeDSecure: 'off' }, { by }))
    await proposed(() => strict.entities.configure(id, { cvvRequired: null }, { by }))
    await strict.entities.configure(id, { threeDSecure: 'on', timeZone: 'Europe/Berlin' }, { by })
  })

  test('a new entity protects no less than the one above it, unless two people agree', async () => {
    const make = (settings: Record<string, unknown>, proposal?: string) => {
      const fresh = { kind: 'channel', name: 'New', parentId: run.merchant, settings } as const
      return strict.entities.create(fresh, { by, proposal })
    }
    await make({ threeDSecure: 'on', cardTestingNumber: 3, resubmissions: 2 })
    const proposal = await proposed(() => make({ cardTestingNumber: 0 }))
    await strict.people.confirm(proposal, { by: bob })
    await assert.rejects(make({ cardTestingNumber: 100 }, proposal), /something else/)
    assert.deepEqual(await settingsOf(await make({ cardTestingNumber: 0 }, proposal)), {
      cardTestingNumber: 0,
    })
  })

  test('one person closes an entity, and two open it again', async () => {
    const id = await channel()
    await strict.entities.close(id, by)
    const proposal = await proposed(() => strict.entities.open(id, by))
    await strict.people.confirm(proposal, { by: bob })
    await strict.entities.open(id, by, proposal)
    assert.equal((await strict.entities.get(id))?.closed, false)
    await strict.entities.close(id, by)
    await assert.rejects(strict.entities.open(id, by, proposal), /carried out before/)
    assert.equal((await strict.entities.get(id))?.closed, true)
  })

  test('of a change that one person makes and another that loosens it, none slips through', async () => {
    const id = await channel({ checkoutTries: 9 })
    // From 9, both are stricter; from the other, one of them is looser.
    const both = await Promise.allSettled(
      [3, 5].map((checkoutTries) => strict.entities.configure(id, { checkoutTries }, { by })),
    )
    const settings = await settingsOf(id)
    const looserOne = both[1]!
    if (looserOne.status === 'rejected') assert.equal(settings?.checkoutTries, 3)
    else assert.equal(both[0]!.status, 'fulfilled')
    assert.equal(settings?.checkoutTries, 3)
  })

  test('an agreed change that another change overtakes is carried out after it', async () => {
    const id = await channel({ cvvRequired: true })
    const off = (proposal?: string) =>
      strict.entities.configure(id, { cvvRequired: false }, { by, proposal })
    const proposal = await proposed(() => off())
    await strict.people.confirm(proposal, { by: bob })
    // Holds the row, so that the agreed change waits after its read.
    await run.sql('begin')
    await run.sql(
      `update tollgate.entity set settings = settings || '{"timeZone":"Europe/Berlin"}' where id = $1`,
      [id],
    )
    const done = off(proposal)
    void done.catch(() => {})
    await until(async () => {
      const [row] = await run.sql(
        `select from pg_stat_activity, pg_stat_clear_snapshot()
         where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return row
    })
    await run.sql('commit')
    await done
    assert.deepEqual(await settingsOf(id), { cvvRequired: false, timeZone: 'Europe/Berlin' })
  })

  test('the page about two people names every setting of this kind', () => {
    const page = readFileSync(new URL('../../../docs/operators.md', import.meta.url), 'utf8')
    const part = page.slice(page.indexOf('## Two people'), page.indexOf('### Joining'))
    for (const name of Object.keys(protections)) assert.ok(part.includes(`\`${name}\``), name)
  })
})
