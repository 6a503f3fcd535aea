import type { AuditFilter, AuditRow } from '@tollgate/core'
import { commandLineActor } from './actor.ts'
import {
  type Command,
  columns,
  type Given,
  needed,
  print,
  UsageError,
  withInstallation,
} from './command.ts'
import { told } from './inspect.ts'
import { momentOf, sinceOption } from './merchant-api.ts'
import { harmless } from './timeline.ts'

const mostRows = 10_000

const list: Command = {
  name: 'audit list',
  summary: 'Show who did what, from where and when: the newest first, or all as JSON lines.',
  options: {
    entity: { type: 'string', value: 'id', meaning: 'Only what was done to this node and below.' },
    actor: { type: 'string', value: 'name', meaning: 'Only of this name or id.' },
    action: {
      type: 'string',
      value: 'action',
      meaning: 'Only this one: token.created; or token, for all that was done with tokens.',
    },
    resource: {
      type: 'string',
      value: 'id',
      meaning: 'Only about this token, payment, endpoint …',
    },
    since: { ...sinceOption, meaning: `Only since then: ${sinceOption.meaning}` },
    limit: { type: 'string', value: 'number', meaning: 'How many. Default 100.' },
    json: {
      type: 'boolean',
      meaning:
        'All of them as JSON lines, the oldest first; the last line is the end of the chain.',
    },
  },
  notes:
    'Reading the trail is on record itself. Keep the last line of --json, the anchor, where nobody who can write to the database can change it: tollgate audit verify --anchor shows when the trail was cut off since.',
  async run(given) {
    const filter = filterOf(given)
    const limit = Number(given.options.limit ?? 100)
    if (!Number.isInteger(limit) || limit < 1 || limit > mostRows) {
      throw new UsageError(`--limit must be a whole number from 1 to ${mostRows}`)
    }
    return withInstallation(given, {}, async ({ gateway: { audit } }) => {
      if (!given.flags.has('json')) {
        const rows = await told(() => audit.list(filter, limit))
        await audit.tellRead(commandLineActor(), 'listed', filter)
        if (rows.length === 0) print('nothing is on record')
        for (const line of columns(rows.map(cells))) print(line)
        return 0
      }
      // Before the first line: a copy that is broken off was taken all the same.
      await audit.tellRead(commandLineActor(), 'exported', filter)
      let count = 0
      await told(async () => {
        for await (const row of audit.export(filter)) {
          count += 1
          print(
            JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? Number(value) : value)),
          )
        }
      })
      print(JSON.stringify({ anchor: await audit.anchor(), rows: count }))
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
  const since = new Date(moment.length === 10 ? moment : `${moment.replace(' ', 'T')}Z`)
  if (Number.isNaN(since.getTime())) throw new UsageError(`there is no moment "${text}"`)
  return since
}

function cells(row: AuditRow): string[] {
  const facts = [
    row.before && `before ${said(row.before)}`,
    row.after && `after ${said(row.after)}`,
  ]
  const detail = Object.keys(row.detail).length === 0 ? [] : [said(row.detail)]
  return [
    row.at.slice(0, 19),
    `${row.actor_kind} ${harmless(row.actor)}`,
    row.address ?? row.host ?? '',
    row.action,
    row.resource ?? '',
    harmless([...facts, ...detail].filter(Boolean).join('; ')),
  ]
}

const said = (facts: object) => JSON.stringify(facts)

const verify: Command = {
  name: 'audit verify',
  summary: 'Look for rows of the trail that were changed or removed; exits with 1 when there are.',
  options: {
    anchor: {
      type: 'string',
      value: 'anchor',
      meaning: 'An end of the chain that was kept elsewhere; it must still be in it.',
    },
  },
  async run(given) {
    const { anchor: kept } = given.options
    return withInstallation(given, {}, async ({ gateway: { audit } }) => {
      const { links, anchor, problems, notes } = await told(async () =>
        audit.verify(kept === undefined ? [] : [kept]),
      )
      await audit.tellRead(commandLineActor(), 'verified', {})
      for (const text of problems) print(`PROBLEM ${text}`)
      for (const text of notes) print(`note    ${text}`)
      if (problems.length === 0) print(`${links} rows are as they were written`)
      print(`anchor ${anchor}`)
      return problems.length === 0 ? 0 : 1
    })
  },
}

const forget: Command = {
  name: 'audit forget',
  summary: 'Remove rows that are older than a year, once the chain was found whole.',
  options: {
    before: { type: 'string', value: 'date', meaning: 'Rows from before this day: 2025-01-01.' },
  },
  notes:
    'Only as the user that owns the tables. That it was done, and up to where, stays on record.',
  async run(given) {
    const before = new Date(needed(given, 'before'))
    if (Number.isNaN(before.getTime())) throw new UsageError('--before must be a date: 2025-01-01')
    return withInstallation(given, {}, async ({ gateway }) => {
      const rows = await told(() => gateway.audit.forget(before, commandLineActor()))
      print(`${rows} rows are forgotten`)
      return 0
    })
  },
}

export const auditCommands: readonly Command[] = [list, verify, forget]
