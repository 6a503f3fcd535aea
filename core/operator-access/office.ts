/** The operators' API: checks rights, then the form of the request, then the visible entities. */
import { limits } from '@tollgate/schemas'
import { listResult, type Reply } from '../call.ts'
import { buildNumber } from '../caller/embedder.ts'
import { rightNames } from '../caller/rights.ts'
import { wireTimestamp } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { ConfirmationNeededError, ProposalError } from '../four-eyes/two-people.ts'
import { isDecidedWithin, isEntryWithin } from '../operator/scope.ts'
import { accountHandlers } from './account-requests.ts'
import { channelsOf, isWithin, notThere, refuseUnlessPersonMay, wrong } from './grants.ts'
import type { Asked, Handled, Handler, OfficeCall, OfficeParts, Values } from './office-types.ts'
import { pageOf, rowsOf, textsOf, valuesOf } from './office-values.ts'
import { attentionView, auditView } from './office-views.ts'
import { actingPerson, actorOfPerson, type Person } from './types.ts'

const entityOf = ({ entityId }: Values) => (entityId === 'all' ? null : entityId)

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
      entityId: person.entityId,
      rights: rightNames(person.rights),
    },
    idleEnd: new Date(engine.clock.realMs() + limits.sessionIdleMs),
    end: new Date(person.since.getTime() + limits.sessionMs),
  }),
  'office.password': async ({ people }, person, { values, session }) => {
    const { password = '', code = '', newPassword = '' } = values
    await people.changePassword(person, session, { password, code, newPassword })
    return {}
  },
  'attention.list': async ({ engine, operator }, person, { values }) => ({
    entries: (await operator.attention(rowsOf(values), await channelsOf(engine, person))).map(
      attentionView,
    ),
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
      operator.settle(id, values.as === 'approved' ? 'approved' : 'declined', {
        ...by,
        ...(values.references === undefined ? {} : { references: textsOf(values.references) }),
      }),
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
  ...accountHandlers,
  'audit.list': async ({ engine, audit }, person, { values }) => {
    const { actor, action, resource, since } = values
    const entity = values.entityId ?? person.entityId ?? undefined
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
    return pageOf('entries', rows.map(auditView), limit)
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
    if (thrown instanceof ProposalError) {
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

function momentOf(text: string): Date {
  const isMoment =
    /^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z?)?$/.test(text)
  const moment = new Date(text.length === 10 ? text : `${text.replace(' ', 'T').replace('Z', '')}Z`)
  if (isMoment && !Number.isNaN(moment.getTime())) return moment
  throw wrong('since', 'must be a moment in UTC: 2027-03-14 or 2027-03-14 09:30:00')
}
