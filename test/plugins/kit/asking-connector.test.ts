/** An acquirer that proves no message: a connector that only asks passes the suite, and one that believes does not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { approved, type Connector, onlyAsks } from '@tollgate/plugin-kit'
import { contractCases, runContract, type Sandbox } from '@tollgate/plugin-kit/testing'
import { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { queueingSandbox } from '../../../connectors/acquirer-json/sandbox/sandbox.ts'
import { failing } from './noticed.ts'

const { tellsOpen: _open, tellsDeclines: _declines, ...rest } = queueingSandbox
/** "We call your address with the reference of the payment in its query." */
const calling: Sandbox = {
  ...rest,
  async open(engine) {
    const acquirer = await queueingSandbox.open(engine)
    const event = async (reference: string) => ({
      body: Buffer.alloc(0),
      headers: {},
      query: { reference },
    })
    return { ...acquirer, event }
  },
}

const inbound: NonNullable<Connector['inbound']> = {
  ...onlyAsks(({ query }) => (query.reference === undefined ? [] : [query.reference])),
  reply: () => ({ body: 'OK' }),
}
const asking: Connector = { ...acquirerJson, inbound }

test('a connector whose messages only make the engine ask passes', async () => {
  const { failed, passed } = await runContract(asking, calling, { parallel: 20 })
  assert.deepEqual(
    failed.map(({ name, error }) => `${name}: ${error.message}`),
    [],
  )
  assert.ok(passed.includes(asks))
})

const asks = 'a message without a proof names the operation to ask about, and claims nothing of it'

const mistakes: Readonly<Record<string, NonNullable<Connector['inbound']>>> = {
  'believes what nobody proved': {
    ...inbound,
    async parse({ query }) {
      const amount = { minor: 9200n, currency: 'EUR' }
      const key = query.reference ?? ''
      return [{ eventId: key, key, outcome: approved({ id: key }), amount }]
    },
  },
  'asks about nothing': { ...inbound, parse: () => [] },
  'takes everything for proven': { ...inbound, verify: () => true },
}
for (const [what, wrong] of Object.entries(mistakes)) {
  test(`the suite notices a connector that ${what}`, async () => {
    const cases = contractCases({ ...asking, inbound: wrong }, calling)
    assert.deepEqual(await failing(cases, [asks]), [asks])
  })
}
