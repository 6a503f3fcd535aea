/**
 * The requests of operators, one row for each operation: routing, rights, checks and the
 * documentation follow from these rows. Bodies are JSON objects of texts; unknown names are
 * refused.
 */
import { limits } from './limits.ts'
import { type RightName, roles } from './rights.ts'

/** The surfaces of a process. Each can have its own origin. */
export const surfaces = ['merchant', 'fields', 'office'] as const

export type Surface = (typeof surfaces)[number]

export type OfficeField = {
  readonly name: string
  readonly need: 'R' | 'O'
  /** Maximum number of characters. With `of`, only these values. */
  readonly max: number
  readonly of?: readonly string[]
  /** 32 hex characters; `all` also means everything. */
  readonly id?: 'one' | 'or all'
  /** An object of texts, such as settings; each has at most `max` characters. */
  readonly texts?: true
  /** Never logged or recorded. */
  readonly secret?: true
}

export type OfficeEndpoint = {
  readonly operation: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly title: string
  /** `none`: anybody. `session`: any operator with a session. */
  readonly right: RightName | 'session' | 'none'
  readonly fields: readonly OfficeField[]
}

const text = (name: string, need: 'R' | 'O', max: number): OfficeField => ({ name, need, max })
const secret = (name: string, need: 'R' | 'O', max: number): OfficeField => ({
  name,
  need,
  max,
  secret: true,
})
const id = (name: string, need: 'R' | 'O', form: 'one' | 'or all' = 'one'): OfficeField => ({
  name,
  need,
  max: 32,
  id: form,
})
const role = (need: 'R' | 'O'): OfficeField => ({
  name: 'role',
  need,
  max: 32,
  of: roles.map(({ name }) => name),
})
const name = text('name', 'R', limits.operatorNameCharacters.max)
const reason = text('reason', 'R', 1000)
const limit = text('limit', 'O', 4)
const password = (field: string) => secret(field, 'R', limits.passwordCharacters.max)
const proposal = id('proposal', 'O')
/** Separated by commas; `all` for no restriction. */
const brands = text('brands', 'O', 1000)
/** The last entry of the page before. */
const after = id('after', 'O')

/** The endpoints of the surface `office`. */
export const officeEndpoints = [
  {
    operation: 'office.login',
    method: 'POST',
    path: '/operator/v1/login',
    title: 'Log in with a password, and a code of the authenticator or a recovery code',
    right: 'none',
    fields: [name, password('password'), secret('code', 'O', 16), secret('recoveryCode', 'O', 64)],
  },
  {
    operation: 'office.join',
    method: 'POST',
    path: '/operator/v1/join',
    title: 'Accept an invitation of two people; the authenticator and the recovery codes are shown once',
    right: 'none',
    fields: [name, password('password'), secret('invitation', 'R', 64), password('newPassword')],
  },
  {
    operation: 'office.logout',
    method: 'POST',
    path: '/operator/v1/logout',
    title: 'End this session',
    right: 'session',
    fields: [],
  },
  {
    operation: 'office.session',
    method: 'GET',
    path: '/operator/v1/session',
    title: 'Show the operator and the end of the session',
    right: 'session',
    fields: [],
  },
  {
    operation: 'office.password',
    method: 'POST',
    path: '/operator/v1/password',
    title: 'Change your own password; other sessions end',
    right: 'session',
    fields: [password('password'), secret('code', 'R', 16), password('newPassword')],
  },
  {
    operation: 'attention.list',
    method: 'GET',
    path: '/operator/v1/attention',
    title: 'List the entries for operators, oldest first',
    right: 'read',
    fields: [limit],
  },
  {
    operation: 'attention.resolve',
    method: 'POST',
    path: '/operator/v1/attention/{id}/resolve',
    title: 'Resolve an entry',
    right: 'decide',
    fields: [reason],
  },
  {
    operation: 'attention.retry',
    method: 'POST',
    path: '/operator/v1/attention/{id}/retry',
    title: 'Process the message of an entry again',
    right: 'decide',
    fields: [reason],
  },
  {
    operation: 'decisions.enquire',
    method: 'POST',
    path: '/operator/v1/decisions/{id}/enquire',
    title: 'Ask the acquirer about an open payment',
    right: 'decide',
    fields: [reason],
  },
  {
    operation: 'decisions.settle',
    method: 'POST',
    path: '/operator/v1/decisions/{id}/settle',
    title: 'Decide an open payment by hand',
    right: 'decide',
    fields: [
      { name: 'as', need: 'R', max: 8, of: ['approved', 'declined'] },
      { name: 'references', need: 'O', max: limits.refCharacters, texts: true },
      reason,
    ],
  },
  {
    operation: 'decisions.redrive',
    method: 'POST',
    path: '/operator/v1/decisions/{id}/redrive',
    title: "Queue the engine's work on a payment or an execution again",
    right: 'decide',
    fields: [reason],
  },
  {
    operation: 'decisions.reverseChargeback',
    method: 'POST',
    path: '/operator/v1/decisions/{id}/reverse-chargeback',
    title: 'Record the reversal of a chargeback',
    right: 'decide',
    fields: [reason],
  },
  {
    operation: 'accounts.list',
    method: 'GET',
    path: '/operator/v1/accounts',
    title: 'List the acquirer accounts, without their secrets',
    right: 'read',
    fields: [limit, id('entityId', 'O'), after],
  },
  {
    operation: 'accounts.show',
    method: 'GET',
    path: '/operator/v1/accounts/{id}',
    title: 'Show an acquirer account, the names of its secrets and the URL for its events',
    right: 'read',
    fields: [],
  },
  {
    operation: 'accounts.add',
    method: 'POST',
    path: '/operator/v1/accounts',
    title: 'Connect a channel to an acquirer',
    right: 'administer',
    fields: [
      id('channelId', 'R'),
      text('connector', 'R', 40),
      { name: 'mode', need: 'R', max: 8, of: ['EXTERNAL', 'LIVE'] },
      brands,
      { name: 'settings', need: 'O', max: 10_000, texts: true, secret: true },
      proposal,
    ],
  },
  {
    operation: 'accounts.set',
    method: 'POST',
    path: '/operator/v1/accounts/{id}',
    title: 'Change brands, position or open settings of an acquirer account',
    right: 'administer',
    fields: [
      brands,
      text('position', 'O', 4),
      { name: 'settings', need: 'O', max: 10_000, texts: true },
      proposal,
    ],
  },
  {
    operation: 'accounts.rotate',
    method: 'POST',
    path: '/operator/v1/accounts/{id}/rotate',
    title: 'Replace secrets of an acquirer account',
    right: 'administer',
    fields: [{ name: 'secrets', need: 'R', max: 10_000, texts: true, secret: true }, proposal],
  },
  {
    operation: 'accounts.check',
    method: 'POST',
    path: '/operator/v1/accounts/{id}/check',
    title: 'Prove the credentials of an account at its acquirer, without moving money',
    right: 'administer',
    fields: [],
  },
  {
    operation: 'accounts.disable',
    method: 'POST',
    path: '/operator/v1/accounts/{id}/disable',
    title: 'Stop new payments of an acquirer account; of an authenticator, by two people',
    right: 'administer',
    fields: [proposal],
  },
  {
    operation: 'accounts.enable',
    method: 'POST',
    path: '/operator/v1/accounts/{id}/enable',
    title: 'Allow new payments of an acquirer account again',
    right: 'administer',
    fields: [proposal],
  },
  {
    operation: 'audit.list',
    method: 'GET',
    path: '/operator/v1/audit',
    title: 'List the audit trail, newest first',
    right: 'administer',
    fields: [
      limit,
      id('entityId', 'O'),
      text('actor', 'O', 64),
      text('action', 'O', 64),
      text('since', 'O', 32),
      id('resource', 'O'),
      after,
    ],
  },
  {
    operation: 'people.list',
    method: 'GET',
    path: '/operator/v1/people',
    title: 'List the operators',
    right: 'administer',
    fields: [limit, after],
  },
  {
    operation: 'people.create',
    method: 'POST',
    path: '/operator/v1/people',
    title: 'Create an operator; the secret of the authenticator and the recovery codes are shown once',
    right: 'administer',
    fields: [name, password('password'), role('R'), id('entityId', 'R', 'or all'), proposal],
  },
  {
    operation: 'people.change',
    method: 'POST',
    path: '/operator/v1/people/{id}',
    title: 'Change the role or the entity of an operator',
    right: 'administer',
    fields: [role('O'), id('entityId', 'O', 'or all'), proposal],
  },
  {
    operation: 'people.reset',
    method: 'POST',
    path: '/operator/v1/people/{id}/reset',
    title: 'New password, new authenticator, new recovery codes; all sessions end',
    right: 'administer',
    fields: [password('password'), proposal],
  },
  {
    operation: 'people.disable',
    method: 'POST',
    path: '/operator/v1/people/{id}/disable',
    title: 'Disable an operator; all sessions end',
    right: 'administer',
    fields: [],
  },
  {
    operation: 'people.enable',
    method: 'POST',
    path: '/operator/v1/people/{id}/enable',
    title: 'Enable an operator',
    right: 'administer',
    fields: [proposal],
  },
  {
    operation: 'proposals.list',
    method: 'GET',
    path: '/operator/v1/proposals',
    title: 'List the proposals that wait for a second person',
    right: 'administer',
    fields: [limit, after],
  },
  {
    operation: 'proposals.confirm',
    method: 'POST',
    path: '/operator/v1/proposals/{id}/confirm',
    title: 'Confirm a proposal as the second person; an invitation is shown once',
    right: 'administer',
    fields: [],
  },
  {
    operation: 'proposals.reject',
    method: 'POST',
    path: '/operator/v1/proposals/{id}/reject',
    title: 'Reject a proposal',
    right: 'administer',
    fields: [reason],
  },
] as const satisfies readonly OfficeEndpoint[]

export type OfficeOperation = (typeof officeEndpoints)[number]['operation']
