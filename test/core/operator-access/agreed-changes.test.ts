/** Two people agree to one change of an operator, whatever happens to the operator meanwhile. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ConfirmationNeededError, type Gateway, type Person } from '../../../core/index.ts'
import { rightsOfRole } from '../../../core/operator-access/types.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { enrol, password } from '../../rig/operators.ts'

const of = (proposal: string | undefined) => (proposal === undefined ? {} : { proposal })

describe('changes that two people agreed on', () => {
  let run: TestGateway
  let strict: Gateway
  let setUp: Gateway
  let ann: Person
  let bob: Person

  before(async () => {
    run = await startGateway({ role: 'api', fourEyes: true, passwordLogRounds: 8 })
    strict = run.gateway
    setUp = await run.another({ fourEyes: false })
    ann = await admin('ann')
    bob = await admin('bob')
  })
  after(() => run.close())

  async function admin(name: string): Promise<Person> {
    const { id } = await enrol(setUp, name, 'admin')
    const rights = rightsOfRole('admin')
    return { id, name, role: 'admin', entityId: null, rights, since: new Date() }
  }

  /** The proposal of a request of one person, which bob then confirms. */
  async function agreed(work: () => Promise<unknown>): Promise<string> {
    const proposal = await work().then(
      () => assert.fail('one person was enough'),
      (error) => {
        assert.ok(error instanceof ConfirmationNeededError, String(error))
        return error.proposal
      },
    )
    await strict.people.confirm(proposal, { by: bob })
    return proposal
  }

  const person = async (id: string) =>
    (
      await run.sql<{ role: string; entity_id: string | null; invited: boolean }>(
        `select role, entity_id, invitation is not null as invited from tollgate.person where id = $1`,
        [id],
      )
    )[0]!

  const waitForLock = (statements: number) =>
    until(async () => {
      const waiting = await run.sql(
        `select from pg_stat_activity, pg_stat_clear_snapshot()
         where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return waiting.length === statements ? true : undefined
    })

  test('a reset that read a viewer does not reset the admin whom two people made meanwhile', async () => {
    const vic = await enrol(setUp, 'vic', 'viewer')
    const promote = (proposal?: string) =>
      strict.people.change(vic.id, { role: 'admin' }, { by: ann, ...of(proposal) })
    const proposal = await agreed(() => promote())
    // Holds the row, so that the reset waits after its read until the promotion is committed.
    await run.sql('begin')
    await run.sql('select from tollgate.person where id = $1 for update', [vic.id])
    const reset = strict.people.reset(vic.id, 'ann alone knows this 1', { by: ann }).then(
      () => 'reset',
      (error: Error) => error.message,
    )
    await waitForLock(1)
    await run.sql(
      `update tollgate.person set role = 'admin', login_version = login_version + 1,
         invitation = (select invitation from tollgate.proposal where id = $2)
       where id = $1`,
      [vic.id, proposal],
    )
    await run.sql('commit')
    assert.match(await reset, /was changed by another operator at this moment/)
    assert.deepEqual(await person(vic.id), { role: 'admin', entity_id: null, invited: true })
  })

  test('of two resets at once, one takes effect', async () => {
    const wes = await enrol(setUp, 'wes', 'viewer')
    await run.sql('begin')
    await run.sql('select from tollgate.person where id = $1 for update', [wes.id])
    const both = [ann, bob].map((by) =>
      strict.people.reset(wes.id, `${by.name} alone knows this 1`, { by }).then(
        () => 'reset',
        () => 'refused',
      ),
    )
    await waitForLock(2)
    await run.sql('commit')
    assert.deepEqual((await Promise.all(both)).sort(), ['refused', 'reset'])
  })

  test('a move to one merchant is not carried out as a move to another or to all', async () => {
    const { merchant, division } = run
    const [second, third] = await Promise.all(
      ['second', 'third'].map((name) =>
        setUp.entities.create({ kind: 'merchant', name, parentId: division }),
      ),
    )
    const carl = await enrol(setUp, 'carl', 'admin', merchant)
    const move = (entityId: string | null, proposal?: string) =>
      strict.people.change(carl.id, { entityId }, { by: ann, ...of(proposal) })
    const proposal = await agreed(() => move(second!))
    const [shown] = (await strict.people.proposals({ by: bob })).filter(({ id }) => id === proposal)
    assert.deepEqual(shown!.facts, {
      person: carl.id,
      name: 'carl',
      role: 'admin',
      entity: second,
      was: { role: 'admin', entity: merchant },
    })
    for (const other of [null, third!]) {
      await assert.rejects(move(other, proposal), /is about something else/)
    }
    assert.equal((await person(carl.id)).entity_id, merchant)
    await move(second!, proposal)
    assert.equal((await person(carl.id)).entity_id, second)
  })

  test('a change is not carried out from another role or entity than the agreed one', async () => {
    const dora = await enrol(setUp, 'dora', 'viewer', run.merchant)
    const promote = (proposal?: string) =>
      strict.people.change(dora.id, { role: 'admin' }, { by: ann, ...of(proposal) })
    const proposal = await agreed(() => promote())
    await strict.people.change(dora.id, { entityId: run.division }, { by: ann })
    await assert.rejects(promote(proposal), /is about something else/)
    assert.equal((await person(dora.id)).role, 'viewer')
  })

  test('a change and a reset that another change overtakes keep their proposals', async () => {
    const fay = await enrol(setUp, 'fay', 'viewer')
    const gil = await enrol(setUp, 'gil', 'admin')
    const promote = (proposal?: string) =>
      strict.people.change(fay.id, { role: 'admin' }, { by: ann, ...of(proposal) })
    const reset = (proposal?: string) =>
      strict.people.reset(gil.id, password, { by: ann, ...of(proposal) })
    const overtaking = 'set disabled_at = now(), login_version = login_version + 1'
    for (const [{ id }, work] of [[fay, promote] as const, [gil, reset] as const]) {
      const proposal = await agreed(() => work())
      await run.sql('begin')
      await run.sql(`update tollgate.person ${overtaking} where id = $1`, [id])
      const overtaken = assert.rejects(work(proposal), /by another operator at this moment/)
      await waitForLock(1)
      await run.sql('commit')
      await overtaken
      await work(proposal)
      assert.equal((await person(id)).invited, true)
    }
    assert.equal((await person(fay.id)).role, 'admin')
  })

  test('the reset of an admin names the admin', async () => {
    const eve = await enrol(setUp, 'eve', 'admin', run.merchant)
    const reset = () => strict.people.reset(eve.id, password, { by: ann })
    const proposal = await agreed(reset)
    const [shown] = (await strict.people.proposals({ by: bob })).filter(({ id }) => id === proposal)
    const named = { person: eve.id, name: 'eve', role: 'admin', entity: run.merchant }
    assert.deepEqual(shown!.facts, named)
  })
})
