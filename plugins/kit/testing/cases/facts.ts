import assert from 'node:assert/strict'
import { type Group, resultGroup } from '@tollgate/schemas'
import { type Connector, contractVersion } from '../../connector.ts'
import { impossibleFact } from '../../facts.ts'
import type { Declined } from '../../outcome.ts'
import { type Case, mustNotHaveMoved, needs, needsEnquiry, needsLine } from '../case.ts'
import { type Stage, told } from '../harness.ts'
import { firstKinds, moneyKinds, originalKind, withArticle } from '../operation.ts'

export const secretName =
  /secret|password|passphrase|credential|token|pin$|(api|private|signing|hmac)_?key/i
export const harmlessName = /public|id$|url$|name$/i

/** The connector's own declarations, before anything is sent. */
export const facts: readonly Case[] = [
  {
    name: 'the declaration of the connector is complete',
    async run({ connector, sandbox, acquirer, account }) {
      const { name, contract, supports, resolve } = connector
      assert.match(name, /^[a-z][a-z0-9-]{0,39}$/, 'name is lower-case letters, digits, hyphens')
      assert.equal(contract, contractVersion, 'contract is the version of this kit')
      const handlers = [...moneyKinds, 'verify' as const].filter((kind) => connector[kind])
      assert.ok(handlers.length > 0, 'there is at least one handler')
      for (const kind of handlers) {
        const on = originalKind(connector, kind)
        assert.ok(on === undefined || connector[on], `${kind} needs ${on}, which is missing`)
      }
      assert.ok(resolve.enquire ?? resolve.reverseByKey, 'resolve has one handler at least')
      assert.ok(supports.methods.length > 0, 'supports.methods names a payment method')
      assert.notDeepEqual(supports.modes, [], 'supports.modes names a mode')
      assert.equal(impossibleFact(supports), undefined)
      if (typeof supports.key === 'function') {
        for (const kind of handlers) {
          const fact = impossibleFact({ ...supports, key: supports.key(kind, account) })
          assert.equal(fact, undefined, `of ${withArticle(kind)}`)
        }
      }
      // Without `answers` the line cannot be tested, which a connector with a network must not
      // avoid.
      const hasLine = acquirer.url !== undefined
      assert.equal(sandbox.answers !== undefined, hasLine, 'an acquirer with a url has answers')
    },
  },
  {
    name: 'credentials are settings of class secret',
    async run({ connector: { config, account } }) {
      for (const table of [config, account]) {
        for (const field of table?.fields ?? []) {
          const isSecret = secretName.test(field.name) && !harmlessName.test(field.name)
          const rule = `${field.name} looks like a credential: give it the class secret`
          assert.ok(!isSecret || field.class === 'secret', rule)
        }
      }
    },
  },
  {
    name: 'settings are listed, and optional ones can be absent',
    async run(stage) {
      const { connector, config, account } = stage
      checkNames('config', connector.config, config)
      checkNames('account', connector.account, account)
      for (const part of ['config', 'account'] as const) {
        for (const name of optionalNames(connector[part], stage[part])) {
          const { [name]: _left, ...rest } = stage[part]
          const kind = firstKinds.find((known) => connector[known]) ?? 'verify'
          const { outcome, thrown } = await stage.perform(await stage.prepare(kind), {
            [part]: rest,
          })
          const rule = `${part}.${name} is not required, but a payment fails without it`
          const isFine = outcome.is === 'approved' || outcome.is === 'accepted'
          assert.ok(isFine, `${rule} ${told(outcome, thrown)}`)
        }
      }
    },
  },
  {
    name: 'an address with a slash at its end is the same address',
    without: needs(needsLine, ({ config }) =>
      urlsIn(config).length === 0 ? 'the connector has no address among its settings' : undefined,
    ),
    async run(stage) {
      const { connector, config: given } = stage
      const names = urlsIn(connector.config).filter((name) => typeof given[name] === 'string')
      const slashed = names.map((name) => [name, `${String(given[name])}/`])
      const config = { ...given, ...Object.fromEntries(slashed) }
      const kind = firstKinds.find((known) => connector[known]) ?? 'verify'
      const { outcome, thrown } = await stage.perform(await stage.prepare(kind), { config })
      const isDone = outcome.is === 'approved' || outcome.is === 'accepted'
      const rule = `operators write ${names.join(', ')} with or without a slash at the end`
      assert.ok(isDone, `${rule}; with one, a payment was ${told(outcome, thrown)}`)
    },
  },
  {
    name: 'the engine waits as long as enquiries can miss an operation',
    without: needs(needsEnquiry, (_connector, { enquiryLagMs }) =>
      enquiryLagMs === undefined ? 'the sandbox names no enquiryLagMs' : undefined,
    ),
    async run({ connector, sandbox }) {
      const { enquiryVisibleAfterMs } = connector.supports
      const isLong = enquiryVisibleAfterMs >= sandbox.enquiryLagMs!
      const rule = `enquiries can miss an operation for ${sandbox.enquiryLagMs} ms`
      assert.ok(isLong, `${rule}, and enquiryVisibleAfterMs is ${enquiryVisibleAfterMs}`)
    },
  },
  {
    name: 'check distinguishes right credentials from wrong ones',
    without: ({ check }) => (check === undefined ? 'the connector has no check' : undefined),
    async run(stage) {
      const { check } = stage.connector
      const before = await stage.bookings()
      const right = await stage.call((context) => check!(context))
      assert.deepEqual(right.returned, { ok: true }, 'check takes the right credentials')
      // An account without credentials has no wrong ones.
      if (!hasCredentials(stage.connector)) return
      const { wrongAccount } = stage.acquirer
      assert.ok(wrongAccount, 'the connector has check, so open() must answer with wrongAccount')
      const wrong = await stage.call((context) => check!(context), { account: wrongAccount })
      assert.equal(wrong.returned?.ok, false, 'check refuses the wrong credentials, and says why')
      const kind = firstKinds.find((known) => stage.connector[known]) ?? 'verify'
      const refused = await stage.perform(await stage.prepare(kind), { account: wrongAccount })
      const isOpen = refused.outcome.is === 'approved' || refused.outcome.is === 'accepted'
      assert.ok(!isOpen, `a payment with wrong credentials was ${told(refused.outcome)}`)
      await mustNotHaveMoved(stage, before, 'check and wrong credentials move nothing')
      assert.equal(right.moved, false, 'check sends nothing that moves money')
    },
  },
  {
    name: 'refused credentials are no decline of the card, and prove nothing',
    without: (connector) =>
      hasCredentials(connector) ? undefined : 'the account has no credentials',
    async run(stage) {
      const { connector } = stage
      const { wrongAccount: account } = stage.acquirer
      assert.ok(account, 'the account has credentials, so open() must answer with wrongAccount')
      const kind = firstKinds.find((known) => connector[known]) ?? 'verify'
      const { operation } = await stage.done(await stage.prepare(kind))
      const before = await stage.bookings()
      const refused = await stage.perform(await stage.prepare(kind), { account })
      mustBlameTheAccount(refused.outcome, refused.thrown)
      const isRefused = ['declined', 'unknown', 'notSent'].includes(refused.outcome.is)
      const was = `a payment with wrong credentials was ${told(refused.outcome, refused.thrown)}`
      assert.ok(isRefused, was)
      const { outcome: repeat } = await stage.perform(operation, { account })
      const isOfKey = repeat.is === 'declined' && repeat.ofKey !== undefined
      const first =
        'a repeat that is refused for its credentials says nothing about the first request'
      assert.ok(!isOfKey, `${first}: no ofKey`)
      if (connector.resolve.enquire !== undefined) {
        const { outcome, thrown } = await stage.enquire(operation, { account })
        const rule = 'an acquirer that refuses the credentials was not asked about the payment'
        assert.equal(outcome.is, 'unknown', `${rule}: the enquiry was ${told(outcome, thrown)}`)
      }
      if (connector.resolve.reverseByKey !== undefined) {
        const { outcome, thrown } = await stage.reverseByKey(operation, { account })
        const isOpen = outcome.is === 'unknown' || outcome.is === 'refused'
        assert.ok(isOpen, `a reversal with wrong credentials was ${told(outcome, thrown)}`)
      }
      await mustNotHaveMoved(stage, before, 'wrong credentials move nothing')
    },
  },
]

/** Reasons by which a merchant finds that the set-up is wrong, and not the shopper's card. */
const groupsOfSetUp: readonly string[] = ['communication', 'configuration', 'system', 'async']

/** No decline, or one that blames no card: a connector without a token has sent nothing. */
export function mustBlameTheAccount(outcome: { readonly is: string }, thrown: unknown): void {
  if (outcome.is !== 'declined') return
  const was = `a payment with refused credentials was ${told(outcome as Declined, thrown)}`
  const group = resultGroup((outcome as Declined).reason)
  const rule = 'the reason says that the connection or the set-up is wrong: 900.100.200, say'
  assert.ok(groupsOfSetUp.includes(group), `${was}, which blames the card; ${rule}`)
}

function checkNames(
  part: string,
  table: Group | undefined,
  given: Readonly<Record<string, unknown>>,
): void {
  const names = table?.fields.map(({ name }) => name) ?? []
  for (const name of Object.keys(given)) {
    assert.ok(names.includes(name), `${part}.${name} of the sandbox has no row in the table`)
  }
  for (const { name, need, options, meaning } of table?.fields ?? []) {
    assert.ok(meaning.length > 0, `${part}.${name} has a description`)
    const isThere = name in given || need !== 'R' || options.default !== undefined
    assert.ok(isThere, `${part}.${name} is required; the sandbox's settings must have it`)
  }
}

const urlsIn = (table: Group | undefined): readonly string[] =>
  (table?.fields ?? []).filter(({ format }) => format.kind === 'url').map(({ name }) => name)

const optionalNames = (table: Group | undefined, given: Stage['config']): readonly string[] =>
  (table?.fields ?? [])
    .filter(({ name, need, options }) => need !== 'R' && name in given && !options.default)
    .map(({ name }) => name)

const hasCredentials = ({ account }: Connector): boolean =>
  account?.fields.some((field) => field.class === 'secret') === true
