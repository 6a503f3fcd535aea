import type { PaymentView } from '../../core/index.ts'
import { isFailure, isPending, isSuccess } from '../../schemas/index.ts'
import { type AcquirerRun, scriptedAcquirer, startWithAcquirer } from '../rig/acquirer.ts'
import { checkBooks } from '../rig/books.ts'
import { until } from '../rig/gateway.ts'
import type { Attack, AttackRun } from './attack.ts'
import { type Expected, lies, misdeeds } from './wrong-outcomes.ts'

const deadlineMs = 400

export const connectors: Attack = {
  name: 'connectors',
  title: 'connectors that throw, hang, lie, block, flood and pollute, inside the engine',
  async run(run) {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    process.on('uncaughtException', note)
    const engine = await startWithAcquirer({
      acquirer: scriptedAcquirer({ capture: { partial: true, multiple: true } }),
      connectorTimeoutMs: deadlineMs,
      shutdownGraceMs: 2_000,
    })
    try {
      const ends = new Map<string, number>()
      const count = (end: string) => ends.set(end, (ends.get(end) ?? 0) + 1)
      for (const [no, { what, expected, debit }] of misdeeds.entries()) {
        const reference = `misdeed-${no}`
        const view = await asked(run, what, () =>
          engine.debit(reference, { debit: debit as never }),
        )
        if (view !== undefined) count(await judge(run, engine, reference, what, expected, view))
      }
      for (const [no, { what, script }] of lies.entries())
        count(await lie(run, engine, `enquiry-lie-${no}`, what, script))
      await followUps(run, engine)
      await prototypes(run, engine)
      // An honest payment through the same connector must succeed at the same time.
      const honest = await engine.debit('honest-payment')
      if (!isSuccess(honest.result.code))
        run.find('an honest payment is refused', honest.result.code)
      await checkBooks(engine, { quiet: false }).catch((error: unknown) =>
        run.find('the books are wrong', String(error)),
      )
      for (const reason of unhandled) run.find('an unhandled rejection', String(reason))
      const faults = engine.logs.filter(({ message }) => message.includes('fault of the gateway'))
      for (const line of faults) run.find('a fault of the gateway', JSON.stringify(line))
      return {
        misdeeds: misdeeds.length,
        lies: lies.length,
        ...Object.fromEntries([...ends].sort()),
        'unhandled rejections': unhandled.length,
      }
    } finally {
      process.off('unhandledRejection', note)
      process.off('uncaughtException', note)
      await engine.close()
    }
  },
}

/** A payment must have an answer, however its connector behaves. */
async function asked(
  run: AttackRun,
  what: string,
  pay: () => Promise<PaymentView>,
): Promise<PaymentView | undefined> {
  try {
    return await pay()
  } catch (thrown) {
    run.find(
      `${what}: the payment throws`,
      thrown instanceof Error ? String(thrown.stack) : String(thrown),
    )
    return undefined
  }
}

const ways: Readonly<Record<string, string>> = {
  approved: 'approved',
  declined: 'declined',
  expired: 'declined',
}

/** Compares the expected outcome, the stored rows and the merchant's answer. */
async function judge(
  run: AttackRun,
  engine: AcquirerRun,
  reference: string,
  what: string,
  expected: Expected,
  view: PaymentView,
): Promise<string> {
  const [row] = await engine.sql<{ state: string; code: string }>(
    'select state, result_code as code from tollgate.payment where merchant_transaction_id = $1',
    [reference],
  )
  const { code } = view.result
  const shown = `${what} → ${JSON.stringify(view.result)} stored as ${row?.state} ${row?.code}`
  if (row === undefined) {
    run.find(`${what}: the payment is not stored`, shown)
    return 'lost'
  }
  // A busy machine can use up the time for the payment before the connector is called.
  if (row.code === '900.100.600' && engine.acquirer.of(reference).length === 0) return 'not sent'
  const way = ways[row.state] ?? 'open'
  if (!expected.split(' or ').includes(way))
    run.find(`${what}: ended ${way}, not ${expected}`, shown)
  for (const told of [code, row.code]) {
    const fits =
      way === 'approved' ? isSuccess(told) : way === 'open' ? isPending(told) : isFailure(told)
    if (!fits) run.find(`${what}: ${way} is told as ${told}`, shown)
  }
  if (/javascript:/.test(JSON.stringify(view)))
    run.find(`${what}: a script goes to the shopper`, shown)
  return way
}

/** An open payment whose acquirer lies in enquiries. */
async function lie(
  run: AttackRun,
  engine: AcquirerRun,
  reference: string,
  what: string,
  script: object,
): Promise<string> {
  const unknown = { is: 'unknown', why: 'lost' } as const
  const debit = (_: unknown, context: { sending(): void }) => {
    context.sending()
    return unknown
  }
  const view = await engine.debit(reference, { debit, ...script } as never)
  // Simulates the delay before the first enquiry.
  await engine.sql(
    `update tollgate.attempt set lease_until = now() - interval '1 second', sent_at = sent_at - interval '1 hour'
      where payment_id = $1`,
    [view.id],
  )
  // Every follow-up enquires first; its own refusal does not matter here.
  await engine.gateway.payments.followUp(view.id, { paymentType: 'CR' }).catch(() => undefined)
  const after = await engine.gateway.payments.get(view.id)
  return judge(run, engine, reference, what, 'open or declined', after)
}

/** The same outcomes on a capture: its reservation stays or is returned. */
async function followUps(run: AttackRun, engine: AcquirerRun): Promise<void> {
  for (const [no, { what, debit }] of misdeeds.entries()) {
    const reference = `capture-${no}`
    engine.acquirer.tell(reference, {})
    // A busy machine can use up the time for a payment before the connector is called.
    const { id } = await until(async () => {
      const view = await engine.debit(reference, {}, { paymentType: 'PA' })
      return isSuccess(view.result.code) ? view : undefined
    })
    engine.acquirer.tell(reference, { capture: debit as never })
    await engine.gateway.payments
      .capture(id, { amount: '92.00', currency: 'EUR' })
      .catch((thrown: unknown) => run.find(`capture, ${what}: throws`, String(thrown)))
    const [row] = await engine.sql<{ taken: bigint }>(
      'select capturing + captured as taken from tollgate.payment_balance where payment_id = $1',
      [id],
    )
    const [child] = await engine.sql<{ state: string }>(
      'select state from tollgate.payment where referenced_id = $1',
      [id],
    )
    const isOver = child?.state === 'declined'
    if (row?.taken !== (isOver ? 0n : 9200n)) {
      run.find(`capture, ${what}: reserved is ${row?.taken}`, `the capture is ${child?.state}`)
    }
  }
}

/** A connector that changes shared prototypes: the engine reads own members only. */
async function prototypes(run: AttackRun, engine: AcquirerRun): Promise<void> {
  if ('polluted' in {}) run.find('an outcome changed the prototype of all objects', 'polluted')
  const pollution = {
    amount: { minor: 1n, currency: 'USD' },
    redirect: 'x',
    refs: { reference: 'x' },
  }
  for (const [name, value] of Object.entries(pollution)) {
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
  }
  try {
    const view = await asked(run, 'polluted prototypes', () =>
      engine.debit('polluted-all', {
        debit: (_, context) => {
          context.sending()
          return { is: 'approved' } as never
        },
      }),
    )
    if (view !== undefined)
      await judge(run, engine, 'polluted-all', 'approved by a prototype', 'open', view)
  } finally {
    for (const name of Object.keys(pollution)) Reflect.deleteProperty(Object.prototype, name)
  }
}
