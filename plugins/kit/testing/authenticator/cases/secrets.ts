import assert from 'node:assert/strict'
import type { AuthenticationRequest } from '../../../authenticator.ts'
import { Sensitive } from '../../../sensitive.ts'
import { type Canary, leakIn, secretsOf } from '../../canary.ts'
import { lineFaults } from '../../cases/line.ts'
import { listening, mustBeScrubbed } from '../../cases/secrets.ts'
import type { Fault } from '../../fault.ts'
import { type AuthenticatorCase, confirmedScene, needsServer } from '../case.ts'
import type { Asked, AuthenticatorStage } from '../harness.ts'
import type { Answered } from '../judge.ts'

const echo: Fault = { reaches: false, damage: { do: 'echo' } }

const cardOf = ({ card }: AuthenticationRequest): readonly Canary[] =>
  Object.entries(card ?? {}).flatMap(([name, value]: [string, unknown]) =>
    Sensitive.is(value) ? [{ name, value: String(value.reveal()) }] : [],
  )

const proofIn = (answer: Answered): readonly Canary[] =>
  'verificationId' in answer && answer.verificationId !== undefined
    ? [{ name: 'verificationId', value: answer.verificationId.reveal() }]
    : []

/** Card data, credentials and proofs stay in their places. */
export const secrets: readonly AuthenticatorCase[] = [
  {
    name: 'no answer, record or log contains card data, credentials or a proof',
    async run(stage) {
      const { decided, challenge } = stage.sandbox
      for (const scene of [...decided, ...(challenge === undefined ? [] : [challenge])]) {
        const request = stage.request(scene)
        await mustKeepQuiet(stage, request, () => stage.authenticate(request))
        await mustKeepQuiet(stage, request, () => stage.enquire(request))
      }
    },
  },
  {
    name: 'nothing after a fault contains card data or credentials',
    without: needsServer,
    async run(stage) {
      const faults = [...Object.values(lineFaults), echo]
      for (const fault of faults.filter(({ damage }) => !/silence|stall/.test(damage.do))) {
        const request = stage.request(confirmedScene(stage))
        stage.front.meet(fault, 'any')
        await mustKeepQuiet(stage, request, () => stage.authenticate(request))
      }
    },
  },
  {
    name: 'card data is sent where a transcript can omit it',
    without: needsServer,
    async run(stage) {
      const request = stage.request(confirmedScene(stage))
      const { attempts } = await stage.authenticate(request)
      for (const { written } of attempts) {
        mustBeScrubbed(written!, cardOf(request), settingsOf(stage))
      }
    },
  },
]

const settingsOf = ({ authenticator, config, account }: AuthenticatorStage): readonly Canary[] =>
  secretsOf(authenticator, { config, account })

/** Calls the authenticator and searches for secrets in everything returned, stored, logged or thrown. */
async function mustKeepQuiet(
  stage: AuthenticatorStage,
  request: AuthenticationRequest,
  ask: () => Promise<Asked>,
): Promise<void> {
  const canaries = [...cardOf(request), ...settingsOf(stage)]
  const before = stage.said.length
  let proof: readonly Canary[] = []
  const printed = await listening(async () => {
    const { answer, returned, thrown } = await ask()
    proof = proofIn(answer)
    const inAnswer = leakIn(returned, [...canaries, ...proof])
    assert.equal(inAnswer, undefined, `the answer holds ${inAnswer}, not as Sensitive`)
    const inError = leakIn(thrown, canaries)
    assert.equal(inError, undefined, `the thrown error holds ${inError}`)
  })
  for (const { where, what } of [
    ...stage.said.slice(before),
    { where: 'console', what: printed },
  ]) {
    const leaked = leakIn(what, [...canaries, ...proof])
    assert.equal(leaked, undefined, `${where} holds ${leaked}`)
  }
}
