/** A gateway that stores accounts and is paid with them, and its refusals. */
import assert from 'node:assert/strict'
import { GatewayError } from '../../../core/index.ts'
import { startWithAcquirer } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { cardOf } from '../../rig/payment-request.ts'

export const good = '4200000000000000'
export const done = '000.100.110'
export const amount = { amount: '12.00', currency: 'EUR', paymentType: 'DB' } as const

/** Of a call that must be refused with this code, about these fields. */
export const refusal =
  (code: string, status: number, ...names: string[]) =>
  (error: unknown) => {
    assert.ok(error instanceof GatewayError, String(error))
    assert.equal(error.code, code)
    assert.equal(error.status, status)
    assert.deepEqual(
      error.parameterErrors.map(({ name }) => name),
      names,
    )
    return true
  }

export type RegistrationRun = Awaited<ReturnType<typeof startRegistrations>>

export async function startRegistrations() {
  const run = await startWithAcquirer()

  const store = (more: object = {}) =>
    run.gateway.registrations.create({
      entityId: run.channel,
      paymentBrand: 'VISA',
      card: cardOf(good),
      ...more,
    } as never)
  const payWith = (id: string, more: object = {}) =>
    run.gateway.registrations.pay(id, { entityId: run.channel, ...amount, ...more } as never)
  const count = async (text: string, ...values: unknown[]) =>
    Number((await run.sql<{ n: bigint }>(text, values))[0]!.n)
  const sealedOf = (id: string) =>
    count('select count(*) as n from tollgate.instrument where id = $1', id)

  return { ...run, close: () => closeChecked(run), store, payWith, count, sealedOf }
}
