import assert from 'node:assert/strict'
import type { Connector } from '../../connector.ts'
import type { Outcome, Pending, Redirect } from '../../outcome.ts'
import { type Case, mustHaveMoved, mustNotHaveMoved, needs, needsLine } from '../case.ts'
import { endOf, isDone, type Performed, type Stage, told } from '../harness.ts'
import { firstKinds, firstOperation, suits, usualAmount } from '../operation.ts'
import type { Brought, Scene } from '../sandbox.ts'
import { inPart, usualFigures } from './answers.ts'
import { mustTell } from './outcomes.ts'

export const needsComplete = ({ complete }: Connector): string | undefined =>
  complete === undefined ? 'the connector has no complete' : undefined

/** The shopper returns from a redirect. The browser's data proves nothing. */
export const completion: readonly Case[] = [
  {
    name: "a return of the shopper's browser proves nothing",
    without: needsComplete,
    async run(stage) {
      const { scene, shopper } = partsOf(stage)
      const before = await stage.bookings()
      const one = await sendAway(stage)
      for (const brought of waysBack(scene.forged)) {
        const cheated = await stage.complete(one.operation, one.outcome, brought)
        mustNotBeDone(cheated.outcome, `a shopper with a forged confirmation (${nameOf(brought)})`)
      }
      for (const brought of waysBack({})) {
        const empty = await stage.complete(one.operation, one.outcome, brought)
        mustNotBeDone(empty.outcome, `a shopper without any data (${nameOf(brought)})`)
      }
      await mustNotHaveMoved(stage, before, 'no payment was made yet')
      const other = await sendAway(stage)
      const returned = broughtOf(await shopper(other.operation.key, other.redirect))
      for (const brought of [returned, ...waysBack({ ...returned.query, ...returned.form })]) {
        const borrowed = await stage.complete(one.operation, one.outcome, brought)
        mustNotBeDone(borrowed.outcome, 'a shopper with the return of another payment')
      }
      const keys = (await stage.bookings()).map(({ key }) => key)
      assert.ok(!keys.includes(one.operation.key), 'only the other payment can have been paid')
    },
  },
  {
    name: 'a payment whose shopper is away stays open',
    without: needsComplete,
    async run(stage) {
      const { scene, shopper } = partsOf(stage)
      const away = await sendAway(stage)
      const { operation, outcome } = away
      for (const brought of [...waysBack({}), ...waysBack(scene.forged)]) {
        const { outcome: back } = await stage.complete(operation, outcome, brought)
        mustBeOpen(back, `a return before the shopper paid (${nameOf(brought)})`)
      }
      if (stage.connector.resolve.enquire !== undefined) {
        const found = await stage.enquire(operation)
        const was = told(found.outcome, found.thrown)
        assert.equal(found.outcome.is, 'pending', `an enquiry about it returns ${was}`)
      }
      const end = await stage.complete(
        operation,
        outcome,
        broughtOf(await shopper(operation.key, away.redirect)),
      )
      await mustEnd(stage, operation, end, 'after the early returns the payment')
    },
  },
  {
    name: 'a return to a payment that the acquirer reviews, or does not know yet, is no decline',
    without: needsComplete,
    async run(stage) {
      const { scene } = partsOf(stage)
      const { connector, sandbox } = stage
      const nobody = operationBy(stage, scene)
      const early = await stage.complete(nobody, { is: 'unknown', why: '' }, asQuery({}))
      mustBeOpen(early.outcome, 'a return to a payment that the acquirer does not know')
      if (sandbox.pending === undefined || !hasKind(connector, sandbox.pending)) return
      const reviewed = operationBy(stage, sandbox.pending)
      const { outcome } = await stage.perform(reviewed)
      const back = await stage.complete(reviewed, outcome, asQuery({}))
      mustBeOpen(back.outcome, 'a return to a payment that the acquirer reviews')
    },
  },
  {
    name: 'a payment is completed after the shopper paid',
    without: needsComplete,
    async run(stage) {
      const { shopper } = partsOf(stage)
      const before = await stage.bookings()
      const { operation, outcome, redirect } = await sendAway(stage)
      const brought = broughtOf(await shopper(operation.key, redirect))
      for (const time of ['first', 'second']) {
        const end = await stage.complete(operation, outcome, brought)
        await mustEnd(stage, operation, end, `the ${time} return of a paid payment`)
      }
      await mustHaveMoved(stage, before, [operation], 'the payment is made once, for its amount')
    },
  },
  {
    name: 'a return to an approval of another amount, or of a part, names that amount',
    without: needs(needsComplete, needsLine),
    async run(stage) {
      const { scene, shopper } = partsOf(stage)
      const { answers } = stage.sandbox
      const { minor, currency } = scene.amount ?? usualAmount
      const part = { minor: minor / 2n, currency }
      const changes = [(body: string) => answers!.alterAmount(body, part)]
      if (answers!.partialCode !== undefined) changes.push(inPart(stage.sandbox, part))
      for (const change of changes) {
        const { operation, outcome, redirect } = await sendAway(stage)
        const brought = broughtOf(await shopper(operation.key, redirect))
        let isTold = false
        const told = (body: string) => {
          const changed = change(body)
          isTold = changed !== body && body.includes(usualFigures(minor))
          return changed
        }
        stage.front.meet({ reaches: true, damage: { do: 'change', change: told } }, 'any')
        const { outcome: end } = await stage.complete(operation, outcome, brought)
        // An answer that names no amount cannot name another; an open payment is decided later.
        if (isTold && end.is !== 'pending' && end.is !== 'notSent') mustTell(end, part)
      }
    },
  },
  {
    name: 'a return that the browser posts tells the same',
    without: needsComplete,
    async run(stage) {
      const { shopper } = partsOf(stage)
      const before = await stage.bookings()
      const { operation, outcome, redirect } = await sendAway(stage)
      const { query, form } = broughtOf(await shopper(operation.key, redirect))
      const brought: Brought = { method: 'POST', query, form: { ...fieldsOfBanks, ...form } }
      const end = await stage.complete(operation, outcome, brought)
      await mustEnd(stage, operation, end, 'a posted return of a paid payment')
      await mustHaveMoved(stage, before, [operation], 'the payment is made once, for its amount')
    },
  },
]

/** Fields that a form of banks has beside those that matter. */
const fieldsOfBanks = { PaRes: 'eJxVUt1u', MD: '', TermUrl: 'https://shop.example/' }

const asQuery = (query: Readonly<Record<string, string>>): Brought => ({
  method: 'GET',
  query,
  form: {},
})

/** The return of a shopper; a query alone is a link. */
export const broughtOf = (returned: Readonly<Record<string, string>> | Brought): Brought =>
  typeof returned.query === 'object' ? (returned as Brought) : asQuery(returned as Brought['query'])

/** The same return as a link, as a form to the same address, and with all of it in the form. */
export const waysBack = (fields: Readonly<Record<string, string>>): readonly Brought[] => [
  asQuery(fields),
  { method: 'POST', query: fields, form: fieldsOfBanks },
  { method: 'POST', query: {}, form: { ...fieldsOfBanks, ...fields } },
]

export const nameOf = ({ method, query }: Brought): string =>
  `${method}${method === 'POST' && Object.keys(query).length === 0 ? ', all in the form' : ''}`

type Away = {
  readonly operation: ReturnType<typeof firstOperation>
  readonly outcome: Pending
  readonly redirect: Redirect['redirect']
}

export async function sendAway(stage: Stage): Promise<Away> {
  const { scene } = partsOf(stage)
  const operation = operationBy(stage, scene)
  const { outcome, thrown } = await stage.perform(operation)
  const isAway =
    outcome.is === 'pending' && typeof outcome.next === 'object' && 'redirect' in outcome.next
  assert.ok(isAway, `a payment that needs the shopper was ${told(outcome, thrown)}`)
  const { redirect } = outcome.next as Redirect
  assert.ok(URL.canParse(redirect.url), 'a redirect leads to a complete URL')
  return { operation, outcome, redirect }
}

const kindFor = (connector: Connector, scene: Scene) =>
  firstKinds.find((known) => connector[known] && suits(scene, known))

const hasKind = (connector: Connector, scene: Scene): boolean =>
  kindFor(connector, scene) !== undefined

function operationBy({ connector }: Stage, scene: Scene) {
  const kind = kindFor(connector, scene)
  assert.ok(kind, 'the scene suits one of authorize, debit, credit')
  return firstOperation(connector, kind, scene)
}

export function partsOf({ sandbox, acquirer }: Stage) {
  const scene = sandbox.redirect
  assert.ok(scene, 'the connector has complete, so the sandbox needs a redirect scene')
  const { shopper } = acquirer
  assert.ok(shopper, 'a sandbox with a redirect scene needs shopper()')
  return { scene, shopper: shopper.bind(acquirer) }
}

/** The acquirer knows the end of a paid payment, unless its own enquiry says that it takes longer. */
async function mustEnd(
  stage: Stage,
  operation: Away['operation'],
  { outcome, thrown }: Performed<Outcome>,
  what: string,
): Promise<void> {
  if (outcome.is === 'pending' && stage.connector.resolve.enquire !== undefined) {
    const { outcome: known } = await stage.enquire(operation)
    const was = `${what} was pending, and an enquiry returns ${told(known)}: ask the acquirer`
    assert.equal(known.is, 'pending', was)
  }
  const end = await endOf(stage, operation, outcome)
  assert.ok(isDone(end), `${what} was ${told(end, thrown)}`)
}

function mustNotBeDone(outcome: { readonly is: string }, who: string): void {
  assert.ok(!isDone(outcome), `${who} was ${outcome.is}`)
}

/** A return decides nothing while the payment is open; the engine takes `notSent` for pending there. */
function mustBeOpen(outcome: Outcome, what: string): void {
  const isOpen = ['pending', 'unknown', 'notSent'].includes(outcome.is)
  assert.ok(isOpen, `${what} was ${told(outcome)}, which ends a payment that can still be paid`)
}
