/** Operators as an embedding program and the host reach them. */
import { actorBy, type By } from '../audit/actor.ts'
import type { AuditTrail } from '../audit-chain/trail.ts'
import type { Reply } from '../call.ts'
import type { Passwords } from '../crypto/passwords.ts'
import type { Engine } from '../engine.ts'
import type { TwoPeople } from '../four-eyes/two-people.ts'
import type { Accounts } from '../merchant-account/accounts.ts'
import type { Operator } from '../operator/operator.ts'
import { type JoinRequest, join } from './join.ts'
import { type From, type LoggedIn, type LoginRequest, Logins } from './login.ts'
import { answerOffice, officeReply } from './office.ts'
import type { OfficeCall } from './office-types.ts'
import { valuesOf } from './office-values.ts'
import { busy, isContended } from './passing-failure.ts'
import { type NewPerson, People } from './people.ts'
import { type Confirmed, type ListedProposal, Proposals } from './proposals.ts'
import { OfficeReads } from './reads.ts'
import { logOut, personOf } from './sessions.ts'
import {
  type Acting,
  actingPerson,
  actingSystem,
  type Enrolled,
  type Invited,
  type ListedPerson,
  type Person,
} from './types.ts'

/**
 * The actor: a logged-in person, limited by rights and entity, or the embedding program's own name
 * for a person, without limits.
 */
export type DoneBy = { readonly by?: By | Person; readonly proposal?: string }

/** What operators work on. */
export type OfficeWork = {
  readonly operator: Operator
  readonly audit: AuditTrail
  readonly accounts: Accounts
}

export type OfficeAnswer = {
  readonly reply: Reply
  /** For the browser to keep; null: to forget. */
  readonly session?: string | null
}

export class OperatorAccounts {
  readonly #engine: Engine
  readonly #logins: Logins
  readonly #people: People
  readonly #proposals: Proposals
  readonly #work: OfficeWork
  readonly #reads = new OfficeReads()

  constructor(engine: Engine, passwords: Passwords, two: TwoPeople, work: OfficeWork) {
    this.#engine = engine
    this.#logins = new Logins(engine, passwords)
    this.#people = new People(engine, passwords, this.#logins, two)
    this.#proposals = new Proposals(engine)
    this.#work = work
  }

  /** @throws GatewayError 401 when anything is wrong, 429 while the name or the address has to wait. */
  login(request: LoginRequest, from: From = {}): Promise<LoggedIn> {
    return this.#logins.login(request, from)
  }

  /** The person of this session, whose idle time starts anew. @throws GatewayError 401 */
  personOf(session: string | undefined, from: From = {}): Promise<Person> {
    return personOf(this.#engine, session, from)
  }

  async logOut(session: string, from: From = {}): Promise<void> {
    await logOut(this.#engine, session, await this.personOf(session, from))
  }

  /** @throws GatewayError 400, 403 · ConfirmationNeededError */
  create(person: NewPerson, { by, proposal }: DoneBy = {}): Promise<Enrolled | Invited> {
    return this.#people.create(person, acting(by), proposal)
  }

  change(
    id: string,
    change: { readonly role?: string; readonly entityId?: string | null },
    { by, proposal }: DoneBy = {},
  ): Promise<void> {
    return this.#people.change(id, change, acting(by), proposal)
  }

  reset(id: string, password: string, { by, proposal }: DoneBy = {}): Promise<Enrolled | Invited> {
    return this.#people.reset(id, password, acting(by), proposal)
  }

  disable(id: string, { by }: DoneBy = {}): Promise<void> {
    return this.#people.disable(id, acting(by))
  }

  enable(id: string, { by, proposal }: DoneBy = {}): Promise<void> {
    return this.#people.enable(id, acting(by), proposal)
  }

  /** Ends the pause after too many failed logins. */
  unlock(id: string, { by }: DoneBy = {}): Promise<void> {
    return this.#people.unlock(id, acting(by))
  }

  list({ by }: DoneBy = {}): Promise<ListedPerson[]> {
    return this.#people.list(acting(by))
  }

  /** By the name that they log in with. @throws GatewayError 404 */
  named(name: string): Promise<ListedPerson> {
    return this.#people.named(name)
  }

  /**
   * Accepts an invitation. Only the new person sees the resulting credentials.
   *
   * @throws GatewayError 400; 401 and 429 as `login`.
   */
  async join(request: JoinRequest, from: From = {}): Promise<Enrolled> {
    return join(this.#engine, this.#logins, request, from)
  }

  /** Proposals that wait for a second person. */
  proposals({ by }: DoneBy = {}): Promise<ListedProposal[]> {
    return this.#proposals.list(acting(by))
  }

  confirm(proposal: string, { by }: Pick<DoneBy, 'by'> = {}): Promise<Confirmed> {
    return this.#proposals.confirm(proposal, acting(by))
  }

  reject(proposal: string, reason: string, { by }: Pick<DoneBy, 'by'> = {}): Promise<void> {
    return this.#proposals.reject(proposal, reason, acting(by))
  }

  /**
   * Answers one request of the operators' API.
   *
   * @param session the browser's cookie.
   * @throws GatewayError
   */
  async answer(
    operation: string,
    session: string | undefined,
    call: OfficeCall,
    from: From,
  ): Promise<OfficeAnswer> {
    try {
      return await this.#answer(operation, session, call, from)
    } catch (thrown) {
      throw isContended(thrown) ? busy() : thrown
    }
  }

  async #answer(
    operation: string,
    session: string | undefined,
    call: OfficeCall,
    from: From,
  ): Promise<OfficeAnswer> {
    if (operation === 'office.login') return this.#answerLogin(call, from)
    if (operation === 'office.join') return this.#answerJoin(call, from)
    const look = () => this.personOf(session, from)
    const kept = session ?? ''
    if (operation === 'office.logout') {
      const person = await look()
      valuesOf(operation, await call.read(person))
      await logOut(this.#engine, kept, person)
      return { reply: officeReply(this.#engine, {}, call.requestId), session: null }
    }
    const parts = {
      engine: this.#engine,
      ...this.#work,
      people: this.#people,
      proposals: this.#proposals,
      reads: this.#reads,
    }
    return { reply: await answerOffice(parts, operation, look, kept, call) }
  }

  async #answerJoin(call: OfficeCall, from: From): Promise<OfficeAnswer> {
    const values = valuesOf('office.join', await call.read())
    const { name = '', password = '', invitation = '', newPassword = '' } = values
    const shown = await this.join({ name, password, invitation, newPassword }, from)
    return { reply: officeReply(this.#engine, shown, call.requestId) }
  }

  async #answerLogin(call: OfficeCall, from: From): Promise<OfficeAnswer> {
    const { name = '', password = '', ...codes } = valuesOf('office.login', await call.read())
    const done = await this.#logins.login({ name, password, ...codes }, from)
    const left = done.recoveryCodes === undefined ? {} : { recoveryCodesLeft: done.recoveryCodes }
    const body = { person: { id: done.personId }, ...left }
    return { reply: officeReply(this.#engine, body, call.requestId), session: done.session }
  }
}

function acting(by: By | Person | undefined): Acting {
  if (typeof by === 'object' && 'role' in by) return actingPerson(by)
  return actingSystem(actorBy(by))
}
