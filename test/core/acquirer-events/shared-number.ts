/** A scripted acquirer whose accounts have merchant numbers, and a merchant with two accounts of one number. */
import { definePlugin, settings } from '@tollgate/plugin-kit'
import {
  type AcquirerRun,
  message,
  type ScriptedAcquirer,
  scriptedAcquirer,
  scriptedName,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'

export const chargeback = { is: 'chargeback', reason: '000.100.220', refs: {} }

export function withNumbers(): ScriptedAcquirer {
  const acquirer = scriptedAcquirer()
  const connector = {
    ...acquirer.plugin.connectors![0]!,
    account: settings('Account', [
      ['number', { kind: 'text', min: 1, max: 32 }, 'O', 'request', 'none', 'Merchant number.'],
    ]),
    settlement: {
      format: 'SCRIPTED',
      institute: 'Scripted',
      zone: 'UTC',
      refs: ['reference'] as const,
      merchantOf: ({ number }: Record<string, unknown>) => String(number ?? ''),
      async *parse() {},
    },
  }
  return {
    ...acquirer,
    plugin: definePlugin({ ...acquirer.plugin, connectors: [connector as never] }),
  }
}

type About = Parameters<typeof message>[0]

export type SharedRun = AcquirerRun & {
  /** Another account of the merchant with the same number. */
  readonly other: string
  /** An account of another merchant with the same number. */
  readonly stranger: string
  bring(account: string, about: About): Promise<unknown>
  /** The outcome of the event at that account, once it is processed. */
  outcomeAt(account: string, eventId: string): Promise<string>
  /** The outcome of what the event says there, once it is processed, under whatever id it is stored. */
  outcomeOf(account: string, eventId: string, is: string): Promise<string>
  /** Kinds of the open entries about a payment. */
  listed(id: string): Promise<string[]>
}

export async function startShared(
  options: Parameters<typeof startWithAcquirer>[0] = {},
): Promise<SharedRun> {
  const run = await startWithAcquirer({ ...options, acquirer: withNumbers() })
  const { entities } = run.gateway
  const at = async (parentId: string) => {
    const channelId = await entities.create({ kind: 'channel', name: 'Another', parentId })
    const own = { channelId, connector: scriptedName, mode: 'EXTERNAL' as const }
    return entities.createAccount({ ...own, settings: { number: 'MID-1' } })
  }
  await run.gateway.accounts.set(run.account, { settings: { number: 'MID-1' } })
  const foreign = { kind: 'merchant', name: 'Another merchant', parentId: run.division } as const
  const outcome = async (account: string, condition: string, values: readonly string[]) => {
    const [row] = await run.sql<{ outcome: string }>(
      `select outcome from tollgate.inbound_event
       where account = $1 and processed_at is not null and ${condition}`,
      [account, ...values],
    )
    return row?.outcome
  }
  return {
    ...run,
    other: await at(run.merchant),
    stranger: await at(await entities.create(foreign)),
    bring: (account, about) => run.gateway.inbound(scriptedName, account, message(about)),
    outcomeAt: (account, eventId) => until(() => outcome(account, 'event_id = $2', [eventId])),
    outcomeOf: (account, eventId, is) =>
      until(() =>
        outcome(account, "split_part(event_id, ' ', 1) = $2 and claim -> 'outcome' ->> 'is' = $3", [
          eventId,
          is,
        ]),
      ),
    listed: async (id) => {
      const rows = await run.sql<{ kind: string }>(
        `select kind from tollgate.attention where payment_id = $1 and resolved_at is null order by kind`,
        [id],
      )
      return rows.map(({ kind }) => kind)
    },
  }
}

/** A payment whose answer is lost, and of which enquiries learn nothing. */
export const undecided = {
  debit: () => ({ is: 'unknown', why: 'the answer is lost' }) as const,
  enquire: () => ({ is: 'unknown', why: 'ask later' }) as const,
}

export const approvedOf = (key: string) => ({ is: 'approved', refs: { reference: `at-${key}` } })
