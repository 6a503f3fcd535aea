import type { AuditFilter, AuditRow } from '@tollgate/core'
import { commandLineActor } from './actor.ts'
import { type Command, columns, type Given, needed, print, UsageError } from './command.ts'
import { momentOf, sinceOption } from './merchant-api.ts'
import { harmless, shownTime } from './shown-text.ts'
import { withInstallation } from './with-installation.ts'

const mostRows = 10_000

const list: Command = {
  name: 'audit list',
  summary: 'Show the audit trail: the newest rows, or all rows as JSON lines.',
  options: {
    entity: {
      type: 'string',
      value: 'id',
      meaning: 'Only rows about this entity and the entities below it.',
    },
    actor: { type: 'string', value: 'name', meaning: 'Only rows of this actor, by name or id.' },
    action: {
      type: 'string',
      value: 'action',
      meaning:
        'Only rows with this action, such as token.created, or with this group of actions, such as token.',
    },
    resource: {
      type: 'string',
      value: 'id',
      meaning: 'Only rows about this token, payment, webhook endpoint or other resource.',
    },
    since: { ...sinceOption, meaning: `Only rows since this moment: ${sinceOption.meaning}` },
    limit: { type: 'string', value: 'number', meaning: 'Maximum number of rows. Default: 100.' },
    json: {
      type: 'boolean',
      meaning: 'Print all rows as JSON lines, oldest first. The last line is the anchor.',
    },
  },
  notes:
    'The trail also records who reads it. Store the anchor out of reach of users with write access to the database: tollgate audit verify --anchor then detects a trail that was cut off.',
  async run(given, shell) {
    const filter = filterOf(given)
    const limit = Number(given.options.limit ?? 100)
    if (!Number.isInteger(limit) || limit < 1 || limit > mostRows) {
      throw new UsageError(`--limit must be a whole number from 1 to ${mostRows}`)
    }
    return withInstallation(given, shell, {}, async ({ gateway: { audit } }) => {
      if (!given.flags.has('json')) {
        const rows = await audit.list(filter, limit)
        await audit.tellRead(commandLineActor(), 'listed', filter)
        if (rows.length === 0) print(shell, 'the audit trail has no such rows')
        for (const line of columns(rows.map(cells))) print(shell, line)
        return 0
      }
      // Before the first line: a copy that is broken off was taken all the same.
      await audit.tellRead(commandLineActor(), 'exported', filter)
      let count = 0
      for await (const row of audit.export(filter)) {
        count += 1
        print(
          shell,
          JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? Number(value) : value)),
        )
      }
      print(shell, JSON.stringify({ anchor: await audit.anchor(), rows: count }))
      return 0
    })
  },
}

function filterOf({ options }: Given): AuditFilter {
  const { entity, actor, action, resource, since } = options
  return {
    ...(entity === undefined ? {} : { entity }),
    ...(actor === undefined ? {} : { actor }),
    ...(action === undefined ? {} : { action }),
    ...(resource === undefined ? {} : { resource }),
    ...(since === undefined ? {} : { since: sinceOf(since) }),
  }
}

/** @throws UsageError */
function sinceOf(text: string): Date {
  const moment = momentOf(text, Date.now())
  return new Date(moment.length === 10 ? moment : `${moment.replace(' ', 'T')}Z`)
}

function cells(row: AuditRow): string[] {
  const facts = [
    row.before && `before ${said(row.before)}`,
    row.after && `after ${said(row.after)}`,
  ]
  const detail = Object.keys(row.detail).length === 0 ? [] : [said(row.detail)]
  return [
    shownTime(row.at),
    row.actor === row.actor_kind ? row.actor : `${row.actor_kind} ${harmless(row.actor)}`,
    row.address ?? row.host ?? '',
    row.action,
    row.resource ?? '',
    harmless([...facts, ...detail].filter(Boolean).join('; ')),
  ]
}

const said = (facts: object) => JSON.stringify(facts)

const verify: Command = {
  name: 'audit verify',
  summary:
    'Find changed and removed rows of the audit trail. Exits with 1 if there are any, or rows that no given key checks.',
  options: {
    anchor: {
      type: 'string',
      value: 'anchor',
      meaning: 'Anchor of an earlier export. The chain must still contain it.',
    },
  },
  async run(given, shell) {
    const { anchor: kept } = given.options
    return withInstallation(given, shell, {}, async ({ gateway: { audit } }) => {
      const { links, anchor, problems, notes } = await audit.verify(
        kept === undefined ? [] : [kept],
      )
      await audit.tellRead(commandLineActor(), 'verified', {})
      for (const text of problems) print(shell, `PROBLEM ${text}`)
      for (const text of notes) print(shell, `note    ${text}`)
      if (problems.length === 0) print(shell, `${links} rows are unchanged`)
      print(shell, `anchor ${anchor}`)
      return problems.length === 0 ? 0 : 1
    })
  },
}

const forget: Command = {
  name: 'audit forget',
  summary: 'Delete rows older than a year, after verifying the chain.',
  options: {
    before: {
      type: 'string',
      value: 'date',
      meaning: 'Delete rows from before this day: 2025-01-01.',
      isRequired: true,
    },
  },
  notes: 'Needs the database user that owns the tables. The trail records the deletion.',
  async run(given, shell) {
    const before = new Date(needed(given, 'before'))
    if (Number.isNaN(before.getTime())) throw new UsageError('--before must be a date: 2025-01-01')
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const rows = await gateway.audit.forget(before, commandLineActor())
      print(shell, `${rows} rows deleted`)
      return 0
    })
  },
}

export const commands: readonly Command[] = [list, verify, forget]
