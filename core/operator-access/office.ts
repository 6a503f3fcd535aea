/** The operators' API: checks rights, then the form of the request, then the visible entities. */
import { limits, type OfficeField, type OfficeOperation } from '@tollgate/schemas'
import type { AuditTrail } from '../audit-chain/trail.ts'
import { listResult, type Reply } from '../call.ts'
import { buildNumber } from '../caller/embedder.ts'
import { rightNames } from '../caller/rights.ts'
import { wireTimestamp } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { ConfirmationNeededError } from '../four-eyes/two-people.ts'
import { isId } from '../ids.ts'
import type { Operator } from '../operator/operator.ts'
import { isDecidedWithin, isEntryWithin } from '../operator/scope.ts'
import { fitting, weigh } from '../page/portions.ts'
import {
  channelsOf,
  endpointOf,
  isWithin,
  notThere,
  refuseUnlessPersonMay,
  wrong,
} from './grants.ts'
import type { People } from './people.ts'
import type { Proposals } from './proposals.ts'
import type { OfficeReads } from './reads.ts'
import { actingPerson, actorOfPerson, type Person } from './types.ts'

export type OfficeCall = {
  /** The `{id}` of the path. */
  readonly id?: string
  /** Names and values of a JSON object or a query, read after the check of the person's rights. */
  readonly read: (person?: Person) => Promise<unknown>
  readonly requestId: string
}

export type OfficeParts = {
  readonly engine: Engine
  readonly operator: Operator
  readonly audit: AuditTrail
  readonly people: People
  readonly proposals: Proposals
  readonly reads: OfficeReads
}

type Values = Readonly<Record<string, string>>

type Asked = { readonly id: string; readonly values: Values; readonly session: string }

type Handler = (parts: OfficeParts, person: Person, asked: Asked) => Promise<object>

/** The operations without a session are handled apart, since their caller is not logged in. */
type Handled = Exclude<OfficeOperation, 'office.login' | 'office.join' | 'office.logout'>

const entityOf = (values: Values) => (values.entity === 'all' ? null : values.entity)

const decision =
  (
    decide: (
      parts: OfficeParts,
      asked: Asked,
      decided: { by: ReturnType<typeof actorOfPerson>; reason: string },
    ) => Promise<object>,
    isTheirs: typeof isDecidedWithin,
  ): Handler =>
  async (parts, person, asked) => {
    const channels = await channelsOf(parts.engine, person)
    if (!(await isTheirs(parts.engine, asked.id, channels))) throw notThere()
    return decide(parts, asked, { by: actorOfPerson(person), reason: asked.values.reason ?? '' })
  }

const handlers: Readonly<Record<Handled, Handler>> = {
  'office.session': async ({ engine }, person) => ({
    person: {
      id: person.id,
      name: person.name,
      role: person.role,
      entity: person.entityId,
      rights: rightNames(person.rights),
    },
    idleEnd: wireTimestamp(new Date(engine.clock.realMs() + limits.sessionIdleMs)),
    end: wireTimestamp(new Date(person.since.getTime() + limits.sessionMs)),
  }),
  'office.password': async ({ people }, person, { values, session }) => {
    const { password = '', code = '', newPassword = '' } = values
    await people.changePassword(person, session, { password, code, newPassword })
    return {}
  },
  'attention.list': async ({ engine, operator }, person, { values }) => ({
    entries: await operator.attention(rowsOf(values), await channelsOf(engine, person)),
  }),
  'attention.resolve': decision(
    ({ operator }, { id }, by) => operator.resolve(id, by),
    isEntryWithin,
  ),
  'attention.retry': decision(({ operator }, { id }, by) => operator.retry(id, by), isEntryWithin),
  'decisions.enquire': decision(
    ({ operator }, { id }, by) => operator.enquire(id, by),
    isDecidedWithin,
  ),
  'decisions.settle': decision(
    ({ operator }, { id, values }, by) =>
      operator.settle(id, values.as === 'approved' ? 'approved' : 'declined', by),
    isDecidedWithin,
  ),
  'decisions.redrive': decision(
    ({ operator }, { id }, by) => operator.redrive(id, by),
    isDecidedWithin,
  ),
  'decisions.reverseChargeback': decision(
    ({ operator }, { id }, by) => operator.reverseChargeback(id, by),
    isDecidedWithin,
  ),
  'audit.list': async ({ engine, audit }, person, { values }) => {
    const { actor, action, resource, since } = values
    const entity = values.entity ?? person.entityId ?? undefined
    if (entity !== undefined && !(await isWithin(engine, person, entity))) throw notThere()
    const filter = {
      ...(entity === undefined ? {} : { entity }),
      ...(actor === undefined ? {} : { actor }),
      ...(action === undefined ? {} : { action }),
      ...(resource === undefined ? {} : { resource }),
      ...(since === undefined ? {} : { since: momentOf(since) }),
    }
    const limit = rowsOf(values)
    const rows = await audit.search(filter, values.after, limit)
    await audit.tellRead(actorOfPerson(person), 'listed', filter, person.entityId)
    const entries = rows.map(({ link, ...row }) => ({
      ...row,
      link: link === null ? null : Number(link),
    }))
    return pageOf('entries', entries, limit)
  },
  'people.list': async ({ people }, person, { values }) => {
    const limit = rowsOf(values)
    const rows = await people.list(actingPerson(person), values.after ?? null, limit)
    return pageOf('people', rows, limit)
  },
  'people.create': ({ people }, person, { values }) => {
    const { name = '', password = '', role = '', proposal } = values
    const entityId = entityOf(values) ?? null
    return people.create({ name, password, role, entityId }, actingPerson(person), proposal)
  },
  'people.change': async ({ people }, person, { id, values }) => {
    const entityId = entityOf(values)
    const change = {
      ...(values.role === undefined ? {} : { role: values.role }),
      ...(entityId === undefined ? {} : { entityId }),
    }
    await people.change(id, change, actingPerson(person), values.proposal)
    return {}
  },
  'people.reset': ({ people }, person, { id, values }) =>
    people.reset(id, values.password ?? '', actingPerson(person), values.proposal),
  'people.disable': async ({ people }, person, { id }) => {
    await people.disable(id, actingPerson(person))
    return {}
  },
  'people.enable': async ({ people }, person, { id, values }) => {
    await people.enable(id, actingPerson(person), values.proposal)
    return {}
  },
  'proposals.list': async ({ proposals }, person, { values }) => {
    const limit = rowsOf(values)
    const rows = await proposals.list(actingPerson(person), values.after ?? null, limit)
    return pageOf('proposals', rows, limit)
  },
  'proposals.confirm': ({ proposals }, person, { id }) =>
    proposals.confirm(id, actingPerson(person)),
  'proposals.reject': async ({ proposals }, person, { id, values }) => {
    await proposals.reject(id, values.reason ?? '', actingPerson(person))
    return {}
  },
}

/**
 * Answers one request of a logged-in person.
 *
 * @param look finds the person of the session.
 * @throws GatewayError
 */
export async function answerOffice(
  parts: OfficeParts,
  operation: string,
  look: () => Promise<Person>,
  session: string,
  { id = '', read, requestId }: OfficeCall,
): Promise<Reply> {
  const asking = await look()
  refuseUnlessPersonMay(parts.engine, asking, operation)
  const handler = handlers[operation as Handled]
  if (handler === undefined) throw new Error(`no handler serves the operation ${operation}`)
  const asked = { id, values: valuesOf(operation, await read(asking)), session }
  // A body takes as long as its sender likes, and a read waits for answers before it.
  const person = await look()
  refuseUnlessPersonMay(parts.engine, person, operation)
  try {
    const answer = () => handler(parts, person, asked)
    const isList = operation.endsWith('.list')
    const body = await (isList ? parts.reads.reading(person, answer) : answer())
    return officeReply(parts.engine, body, requestId)
  } catch (thrown) {
    if (thrown instanceof ConfirmationNeededError) {
      const body = { proposal: thrown.proposal, description: thrown.message }
      return { ...officeReply(parts.engine, body, requestId), status: 202 }
    }
    // Errors of a proposal are sentences.
    if (
      thrown instanceof Error &&
      thrown.constructor === Error &&
      asked.values.proposal !== undefined
    ) {
      throw wrong('proposal', `cannot be used: ${thrown.message}`)
    }
    throw thrown
  }
}

export function officeReply({ clock }: Engine, body: object, requestId: string): Reply {
  const answered = {
    result: listResult(),
    buildNumber,
    timestamp: wireTimestamp(new Date(clock.realMs())),
    ndc: requestId,
  }
  return { status: 200, headers: {}, body: { ...body, ...answered } as Reply['body'] }
}

/** The fields of a request, as its row in the table says. @throws GatewayError 400 naming each that is wrong. */
export function valuesOf(operation: string, values: unknown): Values {
  const { fields } = endpointOf(operation)
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new GatewayError('200.100.103', {
      description: 'invalid request message: send a JSON object',
    })
  }
  const given = new Map(Object.entries(values))
  const errors: { name: string; message: string }[] = []
  // One error stands for all of them: a stranger chooses how many there are.
  if ([...given.keys()].some((name) => !fields.some((field) => field.name === name))) {
    const message = `is not an allowed parameter: ${operation} takes ${listOf(fields)}`
    errors.push({ name: 'unknown', message })
  }
  const read: [string, string][] = []
  for (const field of fields) {
    const value = given.get(field.name)
    const message = value === undefined || value === '' ? absent(field) : problemOf(field, value)
    if (message !== undefined) errors.push({ name: field.name, message })
    else if (typeof value === 'string' && value !== '') read.push([field.name, value])
  }
  if (errors.length === 0) return Object.fromEntries(read)
  const [first] = errors
  throw new GatewayError('200.300.404', {
    parameterErrors: errors,
    description: `invalid or missing parameter: ${first!.name} ${first!.message}`,
  })
}

const listOf = (fields: readonly OfficeField[]) =>
  fields.length === 0 ? 'none' : fields.map(({ name }) => name).join(', ')

const absent = ({ need }: OfficeField) => (need === 'R' ? 'is missing' : undefined)

function problemOf({ max, of, id }: OfficeField, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a text'
  // A character has one or two units, so a long text needs no exact count.
  if (value.length > 2 * max || [...value].length > max)
    return `must have ${max} characters at most`
  if (/[\u0000-\u001f\u007f]/.test(value)) return 'must have no control characters'
  if (of !== undefined && !of.includes(value)) return `must be one of ${of.join(', ')}`
  if (id === 'one' && !isId(value)) return 'must be 32 lower-case hex characters'
  if (id === 'or all' && value !== 'all' && !isId(value)) {
    return 'must be 32 lower-case hex characters, or all'
  }
  return undefined
}

/**
 * As many entries as a response may weigh; `next` is the value for `after`, if more entries may
 * follow.
 */
function pageOf(name: string, entries: readonly { readonly id: string }[], limit: number): object {
  const shown = entries.slice(0, fitting(entries.map(weigh), 0))
  const isWhole = shown.length === entries.length && entries.length < limit
  return { [name]: shown, ...(isWhole ? {} : { next: shown.at(-1)!.id }) }
}

function rowsOf({ limit }: Values): number {
  const { default: usual, max } = limits.officeRows
  if (limit === undefined) return usual
  const rows = /^[0-9]{1,4}$/.test(limit) ? Number(limit) : 0
  if (rows < 1 || rows > max) throw wrong('limit', `must be a whole number from 1 to ${max}`)
  return rows
}

function momentOf(text: string): Date {
  const isMoment = /^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}:[0-9]{2})?$/.test(text)
  const moment = new Date(text.length === 10 ? text : `${text.replace(' ', 'T')}Z`)
  if (isMoment && !Number.isNaN(moment.getTime())) return moment
  throw wrong('since', 'must be a moment in UTC: 2027-03-14 or 2027-03-14 09:30:00')
}
