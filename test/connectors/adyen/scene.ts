/** One connector before the sandbox, with the records of an engine. */
import assert from 'node:assert/strict'
import type {
  Claim,
  Connector,
  Inbound,
  Kind,
  Operation,
  RequestFields,
} from '@tollgate/plugin-kit'
import {
  acquirerOf,
  card,
  cards,
  newAccount,
  type RunningAdyen,
  sandbox,
  settingsOf,
  startAdyen,
} from '../../../connectors/adyen/sandbox/sandbox.ts'
import { openStage, type Stage } from '../../../plugins/kit/testing/harness.ts'
import {
  type Done,
  firstOperation,
  frozen,
  operationOn,
} from '../../../plugins/kit/testing/operation.ts'

export type Scene = {
  readonly stage: Stage
  readonly adyen: RunningAdyen
  readonly account: ReturnType<typeof newAccount>
  readonly settings: ReturnType<typeof settingsOf>
  /** A first payment by a test card, whose holder asks for an answer. */
  first(kind: Kind, holder?: string, request?: RequestFields): Operation
  /** A payment that was carried out, with Adyen's answer. */
  paid(kind: 'authorize' | 'debit'): Promise<Done>
  follow(kind: Kind, on: Done, minor?: bigint): Promise<Done>
  /** Delivers messages; their claims. */
  tell(message: Inbound): Promise<readonly Claim[]>
  /** What Adyen got last. */
  sent(): Readonly<Record<string, unknown>>
  close(): Promise<void>
}

export async function openScene(connector: Connector): Promise<Scene> {
  const account = newAccount()
  const adyen = await startAdyen(account)
  const stage = await openStage(
    connector,
    { ...sandbox, open: async () => acquirerOf(adyen, account) },
    { patienceMs: 60_000, graceMs: 2_000 },
  )
  const scene: Scene = {
    stage,
    adyen,
    account,
    settings: settingsOf(account),
    first: (kind, holder, request = {}) =>
      firstOperation(connector, kind, { instrument: card(cards.approved, holder), request }),
    paid: (kind) => stage.done(scene.first(kind)),
    async follow(kind, on, minor) {
      return stage.done(operationOn(connector, kind, on, minor))
    },
    async tell(message) {
      const { returned, thrown } = await stage.call((context) =>
        connector.inbound!.parse(message, context),
      )
      if (returned === undefined) throw thrown
      return returned
    },
    sent: () => Object(adyen.exchanges.at(-1)?.request),
    close: () => stage.close(),
  }
  return scene
}

/** Runs a rule against a connector. */
export async function obey(rule: (scene: Scene) => Promise<void>, connector: Connector) {
  const scene = await openScene(connector)
  try {
    await rule(scene)
  } finally {
    await scene.close()
  }
}

/** The outcome of a first payment whose holder asks for an answer. */
export async function outcomeOf({ stage, first }: Scene, kind: Kind, holder: string) {
  return (await stage.perform(first(kind, holder))).outcome
}

export const withInstrument = (operation: Operation, more: object): Operation =>
  frozen({ ...operation, instrument: { ...operation.instrument!, ...more } as never })

export const has = (whole: unknown, part: object, rule: string): void =>
  assert.deepEqual(
    Object.fromEntries(Object.keys(part).map((name) => [name, Object(whole)[name]])),
    part,
    rule,
  )
