import { type AttentionRow, amountText, attentionText } from '@tollgate/core'
import { type Command, jsonOption, print, printList, UsageError } from './command.ts'
import { byOption, decidedBy, reasonOption } from './decide.ts'
import { harmless } from './shown-text.ts'
import { since } from './timeline.ts'
import { found, withInstallation } from './with-installation.ts'

/** A command about one entry of the list, with a reason on record. */
const entryCommand = (name: 'resolve' | 'retry', summary: string): Command => ({
  name: `attention ${name}`,
  summary,
  words: ['<entry>'],
  options: { ...reasonOption, ...byOption },
  async run(given, shell) {
    const [id = ''] = given.words
    const decided = decidedBy(given)
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const absent = `no entry of the operators' list has the id ${id}: tollgate attention list`
      print(shell, (await found(absent, gateway.operator[name](id, decided))).text)
      return 0
    })
  },
})

const attentionResolveCommand = entryCommand('resolve', "Resolve an entry of the operators' list.")

const attentionRetryCommand = entryCommand('retry', 'Process the message of an entry again.')

const attentionCommand: Command = {
  name: 'attention',
  summary: "Show the operators' list. Exits with 2 if the list has entries.",
  options: {
    limit: {
      type: 'string',
      value: 'number',
      meaning: 'Maximum number of entries, oldest first. Default: 100.',
    },
    ...jsonOption,
  },
  async run(given, shell) {
    const limit = Number(given.options.limit ?? 100)
    if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) {
      throw new UsageError('--limit must be a whole number from 1 to 10000')
    }
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const rows = await gateway.operator.attention(limit)
      printList(given, shell, rows, { none: "the operators' list is empty", cells })
      return rows.length === 0 ? 0 : 2
    })
  },
}

const attentionListCommand: Command = { ...attentionCommand, name: 'attention list' }

function subjectOf({
  payment_id: id,
  currency,
  amount_minor: minor,
  detail,
}: AttentionRow): string {
  const { file } = detail
  const isKnown = minor !== null && currency !== null
  if (id !== null)
    return `payment ${id}${isKnown ? ` of ${amountText(minor, currency)} ${currency}` : ''}`
  return typeof file === 'string' ? `file ${file}` : 'no payment'
}

/** The column before names the file. */
const withoutFile = ({ file: _, ...rest }: AttentionRow['detail']) => rest

function cells(row: AttentionRow): string[] {
  const { id, kind, at, alarm_at, detail, currency } = row
  const ageMs = Date.now() - at.getTime()
  return [
    id,
    alarm_at.getTime() <= Date.now() ? 'ALARM' : '',
    kind,
    subjectOf(row),
    `${since(ageMs).slice(1)} ago`,
    harmless(attentionText(withoutFile(detail), currency)),
  ]
}

export const commands: readonly Command[] = [
  attentionListCommand,
  attentionResolveCommand,
  attentionRetryCommand,
  attentionCommand,
]
