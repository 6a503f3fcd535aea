/** Acquirers that sign the time, too: the suite notices a connector that takes an old signature. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Connector, hmac, type Inbound, isHmac } from '@tollgate/plugin-kit'
import { contractCases, type Sandbox } from '@tollgate/plugin-kit/testing'
import { signatureHeader } from '../../../connectors/acquirer-json/events.ts'
import { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { sandbox } from '../../../connectors/acquirer-json/sandbox/sandbox.ts'
import { failing } from './noticed.ts'

const aged = 'a message that was signed too long ago is not proven'
const timeHeader = 'x-bank-time'
/** "A message that was signed more than five minutes ago must be refused." */
const oldestMs = 5 * 60_000

const signedAt = (ms: number, { body }: Pick<Inbound, 'body'>) =>
  Buffer.concat([Buffer.from(`${ms}.`), body])

const verifying = (isFresh: (ms: number) => boolean): Connector => ({
  ...acquirerJson,
  inbound: {
    ...acquirerJson.inbound!,
    verify(message, { account }) {
      const ms = Number(message.headers[timeHeader])
      const given = message.headers[signatureHeader]
      return isFresh(ms) && isHmac(given, signedAt(ms, message), String(account.eventSecret))
    },
  },
})

const signing: Sandbox = {
  ...sandbox,
  messages: ['aged'],
  async open(engine) {
    const acquirer = await sandbox.open(engine)
    const secret = String(acquirer.settings('').account.eventSecret)
    const signed = async (key: string, ms: number): Promise<Inbound> => {
      const message = await acquirer.event!(key)
      const signature = hmac(signedAt(ms, message), secret)
      return { ...message, headers: { [timeHeader]: String(ms), [signatureHeader]: signature } }
    }
    return {
      ...acquirer,
      event: (key) => signed(key, Date.now()),
      message: (_what, key) => signed(key, Date.now() - oldestMs - 60_000),
    }
  },
}

test('the suite notices a connector that takes an old signature', async () => {
  const right = verifying((ms) => Math.abs(Date.now() - ms) <= oldestMs)
  assert.deepEqual(await failing(contractCases(right, signing), [aged]), [])
  const wrong = verifying(() => true)
  assert.deepEqual(await failing(contractCases(wrong, signing), [aged]), [aged])
})
