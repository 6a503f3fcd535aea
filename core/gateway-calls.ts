/**
 * The names of the options of a gateway's methods. The guard refuses others: a program without types that
 * misspells one would get a token with all rights, say, or the decision of nobody. Methods that are not here
 * refuse unknown options themselves, by `callerIn` or `refuseUnknownOptions`.
 */
import type { AuditFilter } from './audit/store-list.ts'
import type { RequestOptions } from './caller/embedder.ts'
import type { AgreedChange, Change } from './entity/change.ts'
import type { RuleChange } from './entity/dispatching.ts'
import type { Gateway } from './gateway.ts'
import type { Decided } from './operator/decided.ts'
import type { DoneBy } from './operator-access/api.ts'
import type { From } from './operator-access/login.ts'
import type { DecisionOptions } from './settlement/api.ts'

/** Every name of a type, so that a new option without its name here does not compile. */
type Names<Options> = {
  readonly [Name in keyof Options as [Options[Name]] extends [undefined] ? never : Name]-?: true
}

type Rows<Given extends readonly unknown[]> = {
  readonly [At in keyof Given]?: (Given[At] extends object ? Names<Given[At]> : never) | undefined
}

type MethodNames<Part> = {
  readonly [Name in keyof Part]?: Part[Name] extends (...given: infer Given) => unknown
    ? Rows<Required<Given>>
    : MethodNames<Part[Name]>
}

const not = undefined
const change: Names<Change> = { by: true }
const agreed: Names<AgreedChange> = { by: true, proposal: true }
const rules: Names<RuleChange> = { version: true, by: true }
const doneBy: Names<DoneBy> = { by: true, proposal: true }
const byPerson: Names<Pick<DoneBy, 'by'>> = { by: true }
const from: Names<From> = { address: true, network: true }
const decided: Names<Decided> = { by: true, reason: true, onBehalfOf: true }
const caller: Names<Pick<RequestOptions, 'caller'>> = { caller: true }
const request: Names<RequestOptions> = { caller: true, idempotencyKey: true, by: true }
const decision: Names<DecisionOptions> = { caller: true, by: true, reason: true, onBehalfOf: true }
const filter: Names<AuditFilter> = {
  ...{ entity: true, actor: true, action: true, since: true, resource: true },
}

export const namesOfOptions = {
  inspect: [not, { days: true }],
  accounts: {
    // It names what is wrong in the account itself.
    add: [not, agreed],
    list: [{ entityId: true, after: true, limit: true }],
    set: [not, { brands: true, position: true, settings: true }, agreed],
    rotate: [not, not, agreed],
    enable: [not, agreed],
    disable: [not, agreed],
    check: [not, change],
  },
  audit: { list: [filter], search: [filter], export: [filter] },
  checkouts: { state: [not, { nonce: true }] },
  entities: {
    create: [{ kind: true, name: true, parentId: true, id: true, settings: true }, agreed],
    configure: [not, not, agreed],
    createToken: [not, not, { rights: true, expiresAt: true, networks: true, ...agreed }],
    rotateToken: [not, { overlapMs: true, expiresAt: true, ...agreed }],
    revokeToken: [not, change],
    createAccount: [not, agreed],
    dispatching: {
      replace: [not, not, rules],
      add: [not, not, rules],
      remove: [not, not, rules],
      choose: [not, { brands: true, currency: true, paymentType: true, country: true }],
    },
  },
  operator: {
    enquire: [not, decided],
    settle: [not, not, { ...decided, references: true }],
    redrive: [not, decided],
    resolve: [not, decided],
    reverseChargeback: [not, decided],
    retry: [not, decided],
  },
  people: {
    login: [{ name: true, password: true, code: true, recoveryCode: true }, from],
    personOf: [not, from],
    logOut: [not, from],
    join: [{ name: true, password: true, invitation: true, newPassword: true }, from],
    create: [{ name: true, password: true, role: true, entityId: true }, doneBy],
    change: [not, { role: true, entityId: true }, doneBy],
    reset: [not, not, doneBy],
    disable: [not, doneBy],
    enable: [not, doneBy],
    unlock: [not, doneBy],
    list: [doneBy],
    proposals: [doneBy],
    confirm: [not, byPerson],
    reject: [not, not, byPerson],
  },
  reportDestinations: {
    create: [not, request],
    list: [not, request],
    get: [not, request],
    update: [not, not, request],
    remove: [not, request],
    test: [not, request],
    replay: [not, not, request],
    deliveries: [not, not, request],
  },
  reports: {
    aggregations: [not, caller],
    aggregation: [not, caller],
    records: [not, not, caller],
    recordPage: [not, not, caller],
    files: [not, caller],
    file: [not, caller],
    cut: [{ entityId: true, ...caller }],
  },
  servedFiles: {
    createKey: [not, request],
    listKeys: [not, request],
    removeKey: [not, request],
  },
  settlement: {
    import: [not, { accountId: true, name: true, skipBadLines: true, ...caller, by: true }],
    fetch: [not, caller],
    files: [{ limit: true, ...caller }],
    exceptions: [{ fileId: true, limit: true, ...caller }],
    assign: [not, not, decision],
    check: [not, decision],
    unsettled: [{ from: true, to: true, after: true, limit: true, ...caller }],
    rerun: [not, decision],
    file: [not, caller],
  },
  threeDSecure: { create: [not, request], get: [not, request] },
} as const satisfies MethodNames<Gateway>
