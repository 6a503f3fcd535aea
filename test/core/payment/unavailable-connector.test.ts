/** An undecided payment whose connector this process does not have. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { unknown } from '@tollgate/plugin-kit'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { type LateRun, startLate } from '../../rig/late-words.ts'

describe('an undecided payment without its connector', () => {
  let run: LateRun
  before(async () => {
    run = await startLate({}, { role: 'api' })
  })
  after(() => closeChecked(run))

  test('is listed before its lease ends, so that it is never undecided without an entry', async () => {
    const { id } = await run.debit('without-connector', {
      debit: (_, context) => {
        context.sending()
        return unknown('the answer was lost')
      },
    })
    await run.age(id)
    // The order in which both statements commit, as each writes it down.
    await run.sql(`create table public.order_of (no serial, what text)`)
    await run.sql(`create function public.note() returns trigger language plpgsql as $$
      begin
        if tg_table_name = 'attention' then insert into public.order_of (what) values ('listed');
        elsif new.lease_until is null and old.lease_until is not null then
          insert into public.order_of (what) values ('lease ended');
        end if;
        return new;
      end $$`)
    for (const [event, table] of [
      ['insert', 'attention'],
      ['update', 'attempt'],
    ]) {
      await run.sql(
        `create trigger noted after ${event} on tollgate.${table} for each row execute function public.note()`,
      )
    }
    await run.another({ role: 'worker', plugins: [] })
    await run.dueNow(id)
    const noted = () => run.sql<{ what: string }>('select what from public.order_of order by no')
    await until(async () => ((await noted()).length > 1 ? true : undefined))
    assert.deepEqual(
      (await noted()).slice(0, 2).map(({ what }) => what),
      ['listed', 'lease ended'],
    )
    const [entry] = await run.listed(id)
    assert.match(String((entry!.detail as { why: string }).why), /connector .* not available/)
  })
})
