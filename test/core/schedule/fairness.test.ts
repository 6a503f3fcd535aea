/** A hanging acquirer delays its own operations and no others. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Operation } from '@tollgate/plugin-kit'
import { newId, onFaultPoint } from '../../../core/index.ts'
import { type AcquirerRun, approvedAs, startWithAcquirer } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { once, type Scheduling, scheduling } from '../../rig/schedules.ts'

const many = 40

describe('charges beside a hanging acquirer', () => {
  let run: AcquirerRun
  let tools: Scheduling
  before(async () => {
    run = await startWithAcquirer({ pool: {}, shutdownGraceMs: 100 })
    tools = scheduling(run)
  })
  after(() => {
    onFaultPoint(undefined)
    return closeChecked(run)
  })

  /** Requests to the acquirer wait until their release. */
  function hanging() {
    const asked: string[] = []
    let letGo = () => {}
    const held = new Promise<void>((go) => {
      letGo = go
    })
    const hang = async (operation: Operation) => {
      asked.push(operation.key)
      await held
      return approvedAs(operation)
    }
    return { asked, hang, letGo: () => letGo() }
  }

  const approved = (ids: readonly string[]) =>
    until(async () => {
      const [row] = await run.sql<{ n: bigint }>(
        `select count(*) as n from tollgate.payment
         where schedule_id = any($1::uuid[]) and state = 'approved'`,
        [ids],
      )
      return Number(row!.n) === ids.length ? true : undefined
    })

  const openOf = async (kinds: readonly string[]) => {
    const [row] = await run.sql<{ n: bigint }>(
      `select count(*) as n from tollgate.attempt
       where connector = 'scripted' and kind = any($1) and state in ('sending', 'unknown')`,
      [kinds],
    )
    return Number(row!.n)
  }

  const scheduled = (count: number, registrationId: string, more: object) =>
    Promise.all(Array.from({ length: count }, () => tools.schedule(registrationId, more)))

  test('forty hanging enquiries leave workers for other charges', async () => {
    const { asked, hang, letGo } = hanging()
    const reference = `undecided-${newId()}`
    const lost = { debit: () => ({ is: 'unknown', why: 'no answer' }) as const, enquire: hang }
    await Promise.all(Array.from({ length: many }, () => run.debit(reference, lost)))
    await run.sql("update tollgate.timer set due_at = now() where kind = 'look'")
    await until(async () => (asked.length > 0 ? true : undefined))
    const made = await scheduled(20, await tools.store(), { job: once })
    const ids = made.map(({ id }) => id)
    await tools.comeDue(ids)
    await approved(ids)
    assert.equal(await openOf(['debit']), many, 'none was decided meanwhile')
    assert.ok(asked.length < 8, 'some of the workers, never all')
    letGo()
    await until(async () => ((await openOf(['debit'])) === 0 ? true : undefined))
  })

  test('forty hanging captures leave workers for other captures', async () => {
    const { asked, hang, letGo } = hanging()
    const reference = `captures-${newId()}`
    const lost = { capture: () => ({ is: 'unknown', why: 'no answer' }) as const, enquire: hang }
    run.acquirer.tell(reference, lost)
    const paid = await Promise.all(
      Array.from({ length: many }, () => run.debit(newId(), {}, { paymentType: 'PA' })),
    )
    const capture = { paymentType: 'CP', amount: '92.00', currency: 'EUR' } as const
    await Promise.all(
      paid.map(({ id }) =>
        run.gateway.payments.followUp(id, { ...capture, merchantTransactionId: reference }),
      ),
    )
    // Expires the leases, as if their processes had died.
    await run.sql(
      `update tollgate.attempt set state = 'sending', lease_until = now() - interval '1 second'
       where kind = 'capture' and state = 'unknown'`,
    )
    await until(async () => (asked.length > 0 ? true : undefined))
    // A payment at another connector whose process died between its two steps.
    const authorised = await new Promise<string>((died) => {
      onFaultPoint((point, id) => {
        if (point !== 'after-T2') return
        onFaultPoint(undefined)
        died(id)
        return new Promise<void>(() => {})
      })
      void run.pay({ paymentType: 'PA.CP' })
    })
    await run.sql("update tollgate.timer set due_at = now() where kind = 'continue'")
    await until(async () => {
      const [row] = await run.sql(
        `select from tollgate.payment
         where referenced_id = $1 and payment_type = 'CP' and state = 'approved'`,
        [authorised],
      )
      return row
    })
    assert.equal(await openOf(['capture']), many)
    assert.ok(asked.length < 8)
    letGo()
    await until(async () => ((await openOf(['capture'])) === 0 ? true : undefined))
  })

  test('hanging charges of one job do not delay those of another connector', async () => {
    const { asked, hang, letGo } = hanging()
    const reference = `slow-${newId()}`
    run.acquirer.tell(reference, { debit: hang })
    const external = { testMode: 'EXTERNAL' }
    const slow = await scheduled(many, await tools.store(external), {
      ...external,
      job: once,
      merchantTransactionId: reference,
    })
    const quick = await scheduled(many, await tools.store(), { job: once })
    await tools.comeDue([...slow, ...quick].map(({ id }) => id))
    await approved(quick.map(({ id }) => id))
    assert.ok(asked.length > 0 && asked.length <= many)
    assert.ok((await openOf(['debit'])) > 0)
    letGo()
    await approved(slow.map(({ id }) => id))
  })
})
