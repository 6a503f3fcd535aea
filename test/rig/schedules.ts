/** Schedules and clocks for tests. */
import type { ClockView, ExecutionsView, Gateway, ScheduleView } from '../../core/index.ts'
import { type TestGateway, until } from './gateway.ts'
import { cardOf } from './payment-request.ts'

export const goodCard = '4200000000000000'
export const charge = { amount: '12.00', currency: 'EUR', paymentType: 'DB' }
/** At six in the morning on the first of every month. */
export const monthly = { hour: '6', dayOfMonth: '1', month: '*' }
/** One due time, which `comeDue` brings. */
export const once = { expression: '0 0 0 1 1 ? 2090' }

export type Scheduling = {
  clockAt(time: string): Promise<ClockView>
  /** Id of a new registration. */
  store(more?: object): Promise<string>
  schedule(registrationId: string, more?: object, on?: Gateway): Promise<ScheduleView>
  /** Moves the due time of these schedules of the job `once` to this second; another one may come a year later. */
  comeDue(ids: readonly string[], another?: boolean): Promise<void>
  /** Advances a clock and waits until it has arrived. */
  advance(id: string, by: object): Promise<ClockView>
  /** Executions of a schedule, oldest first, as `yyyy-MM-dd HH:mm:ss STATE`. */
  history(id: string): Promise<string[]>
  executions(id: string): Promise<ExecutionsView>
}

export function scheduling(
  run: Pick<TestGateway, 'gateway' | 'merchant' | 'channel' | 'sql'>,
): Scheduling {
  const executions = (id: string) => run.gateway.schedules.executions(id, { limit: '500' } as never)
  return {
    clockAt: (time) => run.gateway.testClocks.create({ entityId: run.merchant, time } as never),
    async store(more = {}) {
      const made = await run.gateway.registrations.create({
        entityId: run.channel,
        paymentBrand: 'VISA',
        card: cardOf(goodCard),
        ...more,
      } as never)
      return made.id
    },
    schedule: (registrationId, more = {}, on = run.gateway) =>
      on.schedules.create({
        entityId: run.channel,
        ...charge,
        registrationId,
        job: monthly,
        ...more,
      } as never),
    async comeDue(ids, another = false) {
      await run.sql(
        `with due as (select date_trunc('second', now()) as at)
         update tollgate.schedule set next_at = due.at, expression =
           to_char(due.at at time zone schedule.zone, 'FMSS FMMI FMHH24 FMDD FMMM ? YYYY') || $2
         from due where id = any($1::uuid[])`,
        [ids, another ? ',2090' : ''],
      )
    },
    async advance(id, by) {
      await run.gateway.testClocks.advance(id, by as never)
      return until(async () => {
        const clock = await run.gateway.testClocks.get(id)
        return clock.status === 'READY' ? clock : undefined
      })
    },
    async history(id) {
      const { executions: all } = await executions(id)
      return all.map(({ scheduledAt, state }) => `${scheduledAt.slice(0, 19)} ${state}`).reverse()
    },
    executions,
  }
}
