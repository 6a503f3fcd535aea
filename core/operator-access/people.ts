/** Creates, changes and removes operators. Each change commits its audit row. */
import { roles } from '@tollgate/schemas'
import { rightSet } from '../caller/rights.ts'
import { checkPassword, type Passwords } from '../crypto/passwords.ts'
import type { Engine } from '../engine.ts'
import { entityById } from '../entity/store.ts'
import type { ProposalUse } from '../four-eyes/stored-proposal.ts'
import type { Deed, DeedKind, TwoPeople } from '../four-eyes/two-people.ts'
import { isId, newId } from '../ids.ts'
import { stepOf } from './codes.ts'
import {
  isWithin,
  notThere,
  refuseUnlessMayAdminister,
  refuseUnlessMayGrant,
  wrong,
} from './grants.ts'
import { newAuthenticator } from './join.ts'
import { type Logins, nameSubject, normalName, sessionHash, type Why } from './login.ts'
import { checkName, factsOf, factsOfChange, factsOfNew, invitationOf } from './proposed.ts'
import { openSecret } from './secret.ts'
import {
  addPerson,
  type Credentials,
  changePassword,
  changePerson,
  countOfRole,
  type PersonChange,
  type PersonRow,
  people,
  personById,
  personByName,
  resetPerson,
} from './store.ts'
import { forgetFailures } from './store-login.ts'
import {
  type Acting,
  actorOfPerson,
  type Enrolled,
  type Invited,
  type ListedPerson,
  type Person,
  rightsOfRole,
} from './types.ts'

export type NewPerson = {
  /** The login name: lower-case letters, digits and `. _ - @ +`. */
  readonly name: string
  readonly password: string
  readonly role: string
  /** They see this node and all below it; null: everything. */
  readonly entityId: string | null
}

const administers = (role: string) => (rightsOfRole(role) & rightSet(['administer'])) !== 0

export class People {
  readonly #engine: Engine
  readonly #passwords: Passwords
  readonly #logins: Logins
  readonly #two: TwoPeople

  constructor(engine: Engine, passwords: Passwords, logins: Logins, two: TwoPeople) {
    this.#engine = engine
    this.#passwords = passwords
    this.#logins = logins
    this.#two = two
  }

  async list(
    acting: Acting,
    after: string | null = null,
    limit: number | null = null,
  ): Promise<ListedPerson[]> {
    refuseUnlessMayAdminister(acting, 'people.list')
    return (await this.#engine.lanes.read(people(acting.entityId, after, limit))).map(listed)
  }

  /** @throws GatewayError 400, 403 · ConfirmationNeededError */
  async create(fresh: NewPerson, acting: Acting, proposal?: string): Promise<Enrolled | Invited> {
    refuseUnlessMayAdminister(acting, 'people.create')
    const name = normalName(fresh.name)
    checkName(name)
    refuseUnlessMayGrant(acting, fresh.role)
    await this.#refuseUnlessWithin(acting, fresh.entityId)
    checkPassword('password', fresh.password, name)
    const { role, entityId } = fresh
    if ((await this.#engine.lanes.single(personByName(name))).length > 0) throw taken()
    const use = await this.#agreed(
      'person.create',
      [role],
      entityId,
      factsOfNew({ name, role, entityId }),
      acting,
      proposal,
    )
    const id = newId()
    const { credentials, shown } = await this.#enrol(id, name, fresh.password, acting, use)
    const row = { id, name, role, entityId, ...credentials }
    const [made] = await this.#engine.lanes.single(addPerson(row, acting.actor, use))
    if (made === undefined) {
      // A repeat after a lost answer finds its own result.
      const [own] = await this.#engine.lanes.single(personById(id))
      if (own === undefined) throw taken()
    }
    return shown
  }

  /** Changes the role or the entity. @throws as `create`; 404 */
  async change(
    id: string,
    { role, entityId }: { readonly role?: string; readonly entityId?: string | null },
    acting: Acting,
    proposal?: string,
  ): Promise<void> {
    const was = await this.#person(id, acting, 'people.change')
    const next = {
      role: role ?? was.role,
      entityId: entityId === undefined ? was.entity_id : entityId,
      isDisabled: was.disabled_at !== null,
    }
    refuseUnlessMayGrant(acting, next.role)
    await this.#refuseUnlessWithin(acting, next.entityId)
    const facts = factsOfChange(was, next)
    const both = [was.role, next.role]
    // The confirmer's rights cover both the old and the new entity.
    const of = await this.#above(was.entity_id, next.entityId)
    const use = await this.#agreed('person.change', both, of, facts, acting, proposal)
    // One operator created the person and therefore knows the credentials.
    const isNew = use !== null && administers(next.role) && !administers(was.role)
    const invitation = isNew ? invitationOf(use) : null
    await this.#apply(was, { ...next, invitation }, 'person.changed', acting, use)
  }

  /** Disables an operator. Their sessions end in the same commit. */
  async disable(id: string, acting: Acting): Promise<void> {
    const was = await this.#person(id, acting, 'people.disable')
    await this.#apply(was, { ...same(was), isDisabled: true }, 'person.disabled', acting, null)
  }

  async enable(id: string, acting: Acting, proposal?: string): Promise<void> {
    const was = await this.#person(id, acting, 'people.enable')
    const facts = factsOf(was)
    const of = was.entity_id
    const use = await this.#agreed('person.enable', [was.role], of, facts, acting, proposal)
    await this.#apply(was, { ...same(was), isDisabled: false }, 'person.enabled', acting, use)
  }

  /** New password, authenticator and recovery codes; ends every session and resets the failures. */
  async reset(
    id: string,
    password: string,
    acting: Acting,
    proposal?: string,
  ): Promise<Enrolled | Invited> {
    const was = await this.#person(id, acting, 'people.reset')
    checkPassword('password', password, was.name)
    const facts = factsOf(was)
    const of = was.entity_id
    const use = await this.#agreed('person.reset', [was.role], of, facts, acting, proposal)
    const { credentials, shown } = await this.#enrol(id, was.name, password, acting, use)
    const subject = nameSubject(this.#engine, was.name)
    const [reset] = await this.#engine.lanes.single(
      resetPerson(was, credentials, subject, acting.actor, use),
    )
    if (reset === undefined) {
      // A repeat after a lost answer finds its own result.
      const [own] = await this.#engine.lanes.single(personById(id))
      if (own?.password !== credentials.password) throw changedMeanwhile()
    }
    return shown
  }

  /** Ends the pause after too many failed logins. */
  async unlock(id: string, acting: Acting): Promise<void> {
    const { name } = await this.#person(id, acting, 'people.reset')
    await this.#engine.lanes.single(
      forgetFailures(nameSubject(this.#engine, name), id, acting.actor),
    )
  }

  /** Changes the person's own password, with the old password and an unused code. @throws GatewayError 400, 401 */
  async changePassword(
    person: Person,
    session: string,
    request: { readonly password: string; readonly code: string; readonly newPassword: string },
  ): Promise<void> {
    const { lanes, vault, clock } = this.#engine
    const [row] = await lanes.single(personById(person.id))
    if (row === undefined) throw notThere()
    checkPassword('newPassword', request.newPassword, row.name)
    if (request.password === request.newPassword) {
      throw wrong('newPassword', 'must be another one than before')
    }
    const place = this.#passwords.forWork(person.id)
    try {
      const counts = await this.#logins.countAgain(row.name)
      const isRight = await place.matches(request.password, row.password)
      const step = stepOf(await openSecret(vault, row), request.code, clock.realMs())
      const fail = (why: Why) => this.#logins.failed(row, why, counts, person)
      if (!isRight) throw await fail('wrong password')
      if (step === undefined) throw await fail('wrong code')
      const fresh = await place.digest(request.newPassword)
      const keep = sessionHash(session)
      const change = { password: fresh, step, keep, subject: counts.byName }
      const [changed] = await lanes.single(changePassword(row, change, actorOfPerson(person)))
      if (changed === undefined) throw await fail('code used before')
    } finally {
      place.leave()
    }
  }

  /** By the name that they log in with. @throws GatewayError 404 */
  async named(name: string): Promise<ListedPerson> {
    const [row] = await this.#engine.lanes.single(personByName(normalName(name)))
    if (row === undefined) throw notThere()
    return listed(row)
  }

  /**
   * A person that the actor may change: not the actor, and within the actor's rights. @throws
   * GatewayError 404, 403, 400
   */
  async #person(id: string, acting: Acting, operation: string): Promise<PersonRow> {
    refuseUnlessMayAdminister(acting, operation)
    const [row] = isId(id) ? await this.#engine.lanes.single(personById(id)) : []
    if (row === undefined || !(await isWithin(this.#engine, acting, row.entity_id)))
      throw notThere()
    // An operator who changes a person could take over that person's rights.
    refuseUnlessMayGrant(acting, row.role)
    if (acting.actor.kind === 'operator' && acting.actor.id === id) {
      throw wrong('id', 'is your own: another operator has to do it')
    }
    return row
  }

  /** The upper of two entities if one is above the other; otherwise the whole installation. */
  async #above(one: string | null, other: string | null): Promise<string | null> {
    if (await isWithin(this.#engine, { entityId: one }, other)) return one
    return (await isWithin(this.#engine, { entityId: other }, one)) ? other : null
  }

  async #refuseUnlessWithin(acting: Acting, entityId: string | null): Promise<void> {
    // A program without types may leave it out.
    if (entityId === undefined) {
      throw wrong('entityId', 'is missing: the id of an entity, or null for the whole installation')
    }
    const isThere =
      entityId === null ||
      (isId(entityId) && (await this.#engine.lanes.single(entityById(entityId))).length > 0)
    if (isThere && (await isWithin(this.#engine, acting, entityId))) return
    throw wrong('entityId', 'is no entity of yours')
  }

  /**
   * A confirmer's rights are as strong as those of the person who proposes. The first two
   * confirmers are created before anybody can confirm.
   */
  async #agreed(
    kind: DeedKind,
    ofRoles: readonly string[],
    entityId: string | null,
    facts: Deed['facts'],
    { actor }: Acting,
    proposal: string | undefined,
  ): Promise<ProposalUse | null> {
    if (!this.#two.isOn || !ofRoles.some(administers)) return null
    const among = roles.filter(({ name }) => administers(name))
    let there = 0
    for (const { name } of among) {
      const [row] = await this.#engine.lanes.single(countOfRole(name))
      there += Number(row!.people)
    }
    if (there < 2) return null
    return this.#two.need({ kind, entityId, facts }, actor, proposal)
  }

  async #apply(
    was: PersonRow,
    change: PersonChange,
    action: string,
    { actor }: Acting,
    use: ProposalUse | null,
  ): Promise<void> {
    const { lanes } = this.#engine
    const [changed] = await lanes.single(changePerson(was, change, action, actor, use))
    if (changed !== undefined) return
    const [now] = await lanes.single(personById(was.id))
    if (now !== undefined && isAs(now, change)) return
    throw changedMeanwhile()
  }

  /** After a confirmation by a second person, neither operator sees the new credentials. */
  async #enrol(
    id: string,
    name: string,
    password: string,
    { actor }: Acting,
    use: ProposalUse | null,
  ): Promise<{ credentials: Credentials; shown: Enrolled | Invited }> {
    const { stored, shown } = newAuthenticator(this.#engine, id, name)
    const person = actor.kind === 'operator' ? actor.id : undefined
    const digest = await this.#passwords.digest(password, person)
    if (use === null) {
      return { credentials: { ...stored, password: digest, invitation: null }, shown }
    }
    const invitation = invitationOf(use)
    return {
      credentials: { ...stored, recoveryHashes: [], password: digest, invitation },
      shown: { id, invited: true },
    }
  }
}

const same = (was: PersonRow) => ({
  role: was.role,
  entityId: was.entity_id,
  invitation: null,
})

const isAs = (row: PersonRow, { role, entityId, isDisabled }: PersonChange) =>
  row.role === role && row.entity_id === entityId && (row.disabled_at !== null) === isDisabled

const changedMeanwhile = () =>
  wrong('id', 'was changed by another operator at this moment: look again', 409)

const taken = () => wrong('name', 'is that of another operator')

const listed = (row: PersonRow): ListedPerson => ({
  id: row.id,
  name: row.name,
  role: row.role,
  entityId: row.entity_id,
  createdAt: row.created_at,
  lastLoginAt: row.last_login_at,
  disabledAt: row.disabled_at,
})
