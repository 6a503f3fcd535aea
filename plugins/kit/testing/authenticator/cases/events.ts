import assert from 'node:assert/strict'
import type { Inbound } from '../../../connector.ts'
import { type AuthenticatorCase, confirmedScene, needsInbound } from '../case.ts'
import type { AuthenticatorStage } from '../harness.ts'

/** Messages sent by the 3-D Secure server, or by an impostor. */
export const events: readonly AuthenticatorCase[] = [
  {
    name: 'an event of the server names its authentication',
    without: needsInbound,
    async run(stage) {
      const { key, message } = await news(stage)
      assert.equal(await verify(stage, message), true, 'a genuine event is proven')
      const { returned = [] } = await stage.call((context) =>
        stage.authenticator.inbound!.parse(message, context),
      )
      const [claim, ...others] = returned
      assert.ok(claim && others.length === 0, 'one event is one claim')
      assert.equal(claim.key, key, "a claim names the authentication by the engine's key")
      assert.match(claim.eventId, /^[^\p{C}\p{Z}]{1,255}$/u, 'a claim has the id of its event')
    },
  },
  {
    name: 'a forged event of the server is not proven',
    without: needsInbound,
    async run(stage) {
      const { message } = await news(stage)
      const body = Buffer.from(message.body)
      body[body.length >> 1]! ^= 1
      assert.equal(await verify(stage, { ...message, body }), false, 'a changed body')
      const bare = { ...message, headers: {}, query: {} }
      assert.equal(await verify(stage, bare), false, 'a message without any signature')
    },
  },
]

async function news(stage: AuthenticatorStage) {
  const request = stage.request(confirmedScene(stage))
  await stage.authenticate(request)
  assert.ok(stage.server.event, 'the authenticator has inbound, so open() answers with event()')
  return { key: request.key, message: await stage.server.event(request.key) }
}

/** An engine accepts only true as proof. */
async function verify(stage: AuthenticatorStage, message: Inbound): Promise<boolean> {
  const { inbound } = stage.authenticator
  const { returned } = await stage.call((context) => inbound!.verify(message, context))
  return returned === true
}
