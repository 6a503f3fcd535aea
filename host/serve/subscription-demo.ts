/** A merchant's subscription over HTTP, with a line for every step. */
import type { Credentials } from './demo.ts'
import { demoClient, told } from './demo-client.ts'

type Execution = {
  readonly scheduledAt: string
  readonly state: string
  readonly paymentId?: string
}

const price = { amount: '9.90', currency: 'EUR' }

/** @throws Error for an unexpected response. */
export async function subscriptionDemo(
  credentials: Credentials,
  print: (line: string) => void,
): Promise<void> {
  const { call, advance } = demoClient(credentials)
  const executions = async (id: string) => {
    const answer = await call('GET', `/scheduling/v1/schedules/${id}/executions`)
    return (answer.executions as Execution[]).toReversed()
  }

  print('A subscription from its first payment to its end.\n')
  const clock = await call('POST', '/v1/testclocks', { name: 'demo', time: '2027-01-15 12:00:00' })
  print(
    `1. A test clock, so that months pass in a moment: POST /v1/testclocks\n   it is ${clock.now}\n`,
  )

  const first = await call('POST', '/v1/payments', {
    ...price,
    paymentType: 'DB',
    testClock: clock.id,
    createRegistration: 'true',
    'card.number': '4200000000000000',
    'card.holder': 'Jane Jones',
    'card.expiryMonth': '05',
    'card.expiryYear': '2034',
    'card.cvv': '123',
    'standingInstruction.mode': 'INITIAL',
    'standingInstruction.source': 'CIT',
    'standingInstruction.type': 'RECURRING',
    'standingInstruction.recurringType': 'SUBSCRIPTION',
  })
  const registrationId = String(first.registrationId)
  print(
    '2. Jane pays for the first month and her card is stored: POST /v1/payments, createRegistration=true',
  )
  print(`   ${price.amount} ${price.currency}  ${told(first)}\n   registration ${registrationId}\n`)

  const schedule = await call('POST', '/scheduling/v1/schedules', {
    ...price,
    paymentType: 'DB',
    registrationId,
    'standingInstruction.mode': 'REPEATED',
    'standingInstruction.source': 'MIT',
    'standingInstruction.type': 'RECURRING',
    'standingInstruction.recurringType': 'SUBSCRIPTION',
    'job.dayOfMonth': 'L',
    'job.month': '*',
    'job.hour': '6',
  })
  print(
    '3. The last day of every month at six: POST /scheduling/v1/schedules, job.dayOfMonth=L job.month=* job.hour=6',
  )
  print(`   schedule ${schedule.id}`)
  for (const moment of schedule.nextExecutions as string[]) print(`   will charge at ${moment}`)

  print('\n4. Months pass: POST /v1/testclocks/{id}/advance, by=P1M')
  let seen = 0
  for (let month = 1; month <= 3; month += 1) {
    const { now } = await advance(clock.id, 'P1M')
    print(`   it is ${now}`)
    const all = await executions(schedule.id)
    for (const { scheduledAt, state, paymentId } of all.slice(seen)) {
      print(
        `      ${scheduledAt}  ${price.amount} ${price.currency}  ${state}  payment ${paymentId}`,
      )
    }
    seen = all.length
  }
  if (seen !== 3) throw new Error(`three months were charged ${seen} times`)

  const cancelled = await call('DELETE', `/scheduling/v1/schedules/${schedule.id}`)
  print('\n5. Jane cancels: DELETE /scheduling/v1/schedules/{id}')
  print(`   ${String(cancelled.state)}, effective ${String(cancelled.effectiveDate)}\n`)

  const { now } = await advance(clock.id, 'P1Y')
  const after = await executions(schedule.id)
  print(`6. A year later, it is ${now}: charged ${after.length} times in all, as before.`)
  if (after.length !== seen) throw new Error('it was charged after it was cancelled')
}
