import assert from 'node:assert/strict'
import type { Context, Kind, Operation } from '../../connector.ts'
import { type Canary, canariesOf, leakIn, scrubbed, secretsOf } from '../canary.ts'
import { type Case, claimsIn, needs, needsHandler, needsLine } from '../case.ts'
import type { Told } from '../environment.ts'
import type { Damage, Fault } from '../fault.ts'
import type { Stage } from '../harness.ts'
import {
  firstKinds,
  firstOperation,
  moneyKinds,
  scenesOf,
  suits,
  withArticle,
} from '../operation.ts'
import type { Written } from '../request.ts'
import { broughtOf, partsOf, sendAway } from './completion.ts'
import { lineFaults, performUnder } from './line.ts'

const echo: Fault = { reaches: false, damage: { do: 'echo' } satisfies Damage }

/**
 * Card data and credentials stay in their places. The test data are the canaries: where one
 * appears, a real value would.
 */
export const secrets: readonly Case[] = [
  {
    name: 'no output or record contains card data or credentials',
    without: needsHandler(...firstKinds),
    async run(stage) {
      const { sandbox, connector } = stage
      const kinds = [...firstKinds, 'verify' as const].filter((kind) => connector[kind])
      for (const kind of kinds) {
        const scenes = [...scenesOf(sandbox, kind), sandbox.declined, sandbox.pending]
        for (const scene of scenes.filter((known) => known && suits(known, kind))) {
          const operation = firstOperation(connector, kind, scene!)
          const canaries = canariesFor(stage, operation)
          await mustKeepQuiet(stage, kind, canaries, () => stage.perform(operation))
        }
      }
    },
  },
  {
    name: 'no follow-up, enquiry, return, check or message tells the credentials of its account',
    without: ({ account, config }) =>
      [account, config].some((table) => table?.fields.some((field) => field.class === 'secret'))
        ? undefined
        : 'the connector has no credentials',
    async run(stage) {
      const { connector } = stage
      const settings = secretsOf(connector, stage)
      for (const kind of moneyKinds.filter((known) => connector[known])) {
        const operation = await stage.prepare(kind)
        const quiet = (what: string, call: () => Promise<Told<unknown>>) =>
          mustKeepQuiet(stage, what, [...settings, ...canariesOf(operation)], call)
        await quiet(kind, () => stage.perform(operation))
        if (connector.resolve.enquire !== undefined) {
          await quiet(`the enquiry about ${withArticle(kind)}`, () => stage.enquire(operation))
        }
        if (connector.resolve.reverseByKey !== undefined) {
          await quiet(`the reversal of ${withArticle(kind)} by key`, () =>
            stage.reverseByKey(operation),
          )
        }
      }
      await mustCheckQuietly(stage, settings)
      await mustHearQuietly(stage, settings)
      await mustCompleteQuietly(stage, settings)
    },
  },
  {
    name: 'no claim contains card data or credentials',
    without: ({ inbound }) => (inbound === undefined ? 'the connector has no inbound' : undefined),
    async run(stage) {
      const kind = firstKinds.find((known) => stage.connector[known])!
      const { operation } = await stage.done(await stage.prepare(kind))
      const message = await stage.acquirer.event!(operation.key)
      const claims = await claimsIn(stage, message)
      const leaked = leakIn(claims, canariesFor(stage, operation))
      assert.equal(leaked, undefined, `a claim holds ${leaked}`)
    },
  },
  {
    name: 'no output after a fault contains card data or credentials',
    without: needs(needsLine, needsHandler(...moneyKinds)),
    async run(stage) {
      const faults = [...Object.entries(lineFaults), ['an answer that repeats the request', echo]]
      for (const [name, fault] of faults as [string, Fault][]) {
        const kind = moneyKinds.find((known) => stage.connector[known])!
        const operation = await stage.prepare(kind)
        const canaries = canariesFor(stage, operation)
        const call = () => performUnder(stage, operation, fault)
        await mustKeepQuiet(stage, name, canaries, call, fault === echo)
      }
    },
  },
  {
    name: 'card data is sent where a transcript can omit it',
    without: needs(needsLine, needsHandler(...firstKinds)),
    async run(stage) {
      const { connector, sandbox } = stage
      for (const kind of firstKinds.filter((known) => connector[known])) {
        for (const scene of scenesOf(sandbox, kind)) {
          const operation = firstOperation(connector, kind, scene)
          const { attempts } = await stage.perform(operation)
          for (const { written } of attempts) {
            mustBeScrubbed(written!, canariesOf(operation), secretsOf(connector, stage))
          }
        }
      }
    },
  },
]

const canariesFor = (stage: Stage, operation: Operation): readonly Canary[] => [
  ...canariesOf(operation),
  ...secretsOf(stage.connector, stage),
]

/** `why` of refused credentials is shown to operators. */
async function mustCheckQuietly(stage: Stage, settings: readonly Canary[]): Promise<void> {
  const { connector, acquirer, config, account: right } = stage
  const { check } = connector
  if (check === undefined) return
  for (const account of [right, acquirer.wrongAccount ?? right]) {
    const canaries = [...settings, ...secretsOf(connector, { config, account })]
    const call = () => stage.call((context) => check(context), { account })
    await mustKeepQuiet(stage, 'check', canaries, call)
  }
}

/** A reply is read by the sender of the message, and claims are stored. */
async function mustHearQuietly(stage: Stage, settings: readonly Canary[]): Promise<void> {
  const { inbound } = stage.connector
  const kind = firstKinds.find((known) => stage.connector[known])
  if (inbound === undefined || kind === undefined || stage.acquirer.event === undefined) return
  const { operation } = await stage.done(await stage.prepare(kind))
  const message = await stage.acquirer.event(operation.key)
  const heard: Readonly<Record<string, (context: Context) => unknown>> = {
    verify: (context) => inbound.verify(message, context),
    parse: (context) => inbound.parse(message, context),
    reply: (context) => inbound.reply?.(message, context),
  }
  for (const [name, hear] of Object.entries(heard)) {
    await mustKeepQuiet(stage, `inbound.${name}`, settings, () => stage.call(hear))
  }
}

async function mustCompleteQuietly(stage: Stage, settings: readonly Canary[]): Promise<void> {
  if (stage.connector.complete === undefined) return
  const { operation, outcome, redirect } = await sendAway(stage)
  const brought = broughtOf(await partsOf(stage).shopper(operation.key, redirect))
  const call = () => stage.complete(operation, outcome, brought)
  await mustKeepQuiet(stage, 'complete', settings, call)
}

/**
 * Runs a handler and searches for canaries in everything returned, stored, logged or thrown.
 *
 * @param isEcho The acquirer's text repeats the request, and the engine masks it before display.
 */
async function mustKeepQuiet(
  stage: Stage,
  what: Kind | string,
  canaries: readonly Canary[],
  run: () => Promise<Told<unknown>>,
  isEcho = false,
): Promise<void> {
  const before = stage.said.length
  const printed = await listening(async () => {
    const { returned, thrown } = await run()
    const { text, ...rest } = Object(returned) as { readonly text?: string }
    const outcome = leakIn(rest, canaries)
    assert.equal(outcome, undefined, `${what}: the outcome holds ${outcome}`)
    const inText = isEcho ? undefined : leakIn(text ?? '', canaries)
    assert.equal(inText, undefined, `${what}: the text of the outcome holds ${inText}`)
    const error = leakIn(thrown, canaries)
    assert.equal(error, undefined, `${what}: the thrown error holds ${error}`)
  })
  for (const { where, what: said } of stage.said.slice(before)) {
    const leaked = leakIn(said, canaries)
    assert.equal(leaked, undefined, `${what}: ${where} holds ${leaked}`)
  }
  const leaked = leakIn(printed, canaries)
  assert.equal(leaked, undefined, `${what}: the console shows ${leaked}`)
}

const consoleMethods = ['debug', 'log', 'info', 'warn', 'error'] as const

/** The console output during the call. */
export async function listening(work: () => Promise<void>): Promise<readonly unknown[]> {
  const printed: unknown[] = []
  const methods = consoleMethods.map((name) => [name, console[name]] as const)
  for (const name of consoleMethods) {
    console[name] = (...values: unknown[]) => {
      printed.push(values)
    }
  }
  try {
    await work()
  } finally {
    for (const [name, method] of methods) console[name] = method
  }
  return printed
}

/**
 * An engine keeps URL and body of every request without known secrets. It cannot find an encoded
 * number, unless the encoded text itself is sent as `Sensitive`.
 */
export function mustBeScrubbed(
  { url, body, secrets: marked }: Written,
  card: readonly Canary[],
  settings: readonly Canary[],
): void {
  const inUrl = leakIn(decodeURIComponent(url.href), [...card, ...settings])
  assert.equal(inUrl, undefined, `a URL holds ${inUrl}: the acquirer's log would store it`)
  const known = [...card, ...settings].map(({ value }) => value)
  const left = scrubbed(body.toString('utf8'), [...known, ...marked])
  const inBody = leakIn(left, card)
  const rule = `the transcript would keep ${inBody}: send encoded values as Sensitive`
  assert.equal(inBody, undefined, rule)
}
