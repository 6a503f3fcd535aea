/** Canaries: secrets are searched in the stored step log, its answers and its printed form. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import {
  type Context,
  declined,
  defineConnector,
  definePlugin,
  type Operation,
  type Outcome,
  settings,
  unknown,
} from '@tollgate/plugin-kit'
import { R, request, secret } from '@tollgate/schemas'
import { stepView } from '../../../core/index.ts'
import { timeline } from '../../../host/commands/timeline.ts'
import { closeChecked } from '../../rig/books.ts'
import { card, startGateway, type TestGateway } from '../../rig/gateway.ts'
import { leavesOf } from '../../rig/leaves.ts'

describe('the redacted step log', () => {
  const number = '378282246310005'
  const code = '6391'
  const apiKey = 'canary-key-0123456789'
  /** By the field that carries it. */
  const personal = {
    holder: 'Canary Holderson',
    givenName: 'Canaria',
    email: 'canary@example.org',
    street1: '17 Canary Wharf',
  }
  const secrets = [number, apiKey]
  /** The short security code is searched as a whole word only. */
  const codeAlone = new RegExp(`(?<![0-9A-Za-z.])${code}(?![0-9A-Za-z])`)
  const canaries = [...secrets, ...Object.values(personal)]

  /** A connector that sends and repeats every value in every possible place. */
  const careless = (url: string) => {
    const reveal = ({ instrument }: Operation) =>
      instrument?.kind === 'card'
        ? {
            pan: instrument.number.reveal(),
            code: instrument.cvv?.reveal(),
            holder: instrument.holder,
          }
        : {}
    const send = async (operation: Operation, context: Context): Promise<string> => {
      const { apiKey: key } = context.account as { apiKey: string }
      const own = { ...reveal(operation), ...operation.request, apiKey: key, note: `key is ${key}` }
      const json = await context.http.post(`${url}/${key}?k=${key}`, own, { moves: true })
      const flatly = new URLSearchParams({ all: JSON.stringify(own) }).toString()
      const form = await context.http.post(url, flatly, {
        moves: true,
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-request-id': key },
      })
      return json.text() + (form.status === 200 ? '' : form.text())
    }
    const debit = async (operation: Operation, context: Context): Promise<Outcome> => {
      const heard = await send(operation, context)
      const [way] = operation.merchantTransactionId?.split('-') ?? []
      if (way === 'throws')
        throw Object.assign(new Error(heard), { name: `Odd ${heard.slice(0, 60)}` })
      if (way === 'unknown') return unknown(heard)
      return declined('800.100.155', {
        text: heard,
        refs: { reference: 'r-1' },
        details: { heard },
        code: '05',
      })
    }
    return definePlugin({
      name: 'careless',
      contract: 1,
      connectors: [
        defineConnector({
          name: 'careless',
          title: 'Careless',
          contract: 1,
          account: settings('Account', [
            ['apiKey', { kind: 'text', min: 1, max: 64 }, R, request, secret, 'A secret.'],
          ]),
          supports: {
            brands: 'any',
            currencies: 'any',
            methods: ['card'],
            key: { by: 'none' },
            enquiryVisibleAfterMs: 0,
          },
          debit: debit as never,
          resolve: {
            enquire: (async (operation: Operation, context: Context) =>
              unknown(await send(operation, context))) as never,
          },
        }),
      ],
    })
  }

  let run: TestGateway
  const server = createServer((request, response) => {
    response.setHeader('content-type', request.headers['content-type'] ?? 'text/plain')
    request.pipe(response)
  })

  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/charge`
    run = await startGateway({ plugins: [careless(url)] })
    await run.gateway.entities.createAccount({
      channelId: run.channel,
      connector: 'careless',
      mode: 'EXTERNAL',
      settings: { apiKey },
    })
  })
  after(async () => {
    await closeChecked(run)
    server.closeAllConnections()
    server.close()
  })

  test('the step log, its answer and the terminal show no card number, code, key or personal value', async () => {
    const { holder, givenName, email, street1 } = personal
    const ids: string[] = []
    for (const way of ['declines', 'throws', 'unknown']) {
      const answer = await run.pay({
        ...card(number, { holder, cvv: code }),
        paymentBrand: 'AMEX',
        testMode: 'EXTERNAL',
        merchantTransactionId: `${way}-canary`,
        customer: { givenName, surname: 'Birdie', email },
        billing: { street1, city: 'London', country: 'GB' },
      })
      ids.push(answer.id)
      if (way !== 'declines') await run.operator.enquire(answer.id, { by: 'x', reason: 'y' })
    }
    for (const id of ids) {
      const shown = await run.gateway.inspect(id)
      assert.ok(!('candidates' in shown))
      const steps = shown.steps.map(stepView)
      const { steps: told } = await run.gateway.payments.steps(id)
      const token = { id: 'shop', entityId: run.channel }
      const theirs = await run.gateway.payments.steps(id, { caller: token })
      const printed = timeline(shown, steps, { verbose: true, colours: true }).join('\n')
      for (const text of [JSON.stringify(told), JSON.stringify(theirs), printed]) {
        for (const canary of canaries) assert.ok(!text.includes(canary), `${canary} in ${text}`)
        assert.doesNotMatch(text, codeAlone)
      }
      // The exchange with its harmless parts must be present, or the scan proves nothing.
      const call = told.find(({ name }) => name === 'debit')
      assert.equal(call?.requests?.length, 2)
      assert.equal(call?.requests?.[0]?.status, 200)
      assert.match(call?.requests?.[0]?.sentBody ?? '', /-canary/)
      assert.match(printed, /> .*-canary/)
    }
    const leaves = await leavesOf(run)
    const kept = leaves.filter(({ table }) => table.startsWith('tollgate.step'))
    assert.ok(
      kept.some(({ text }) => text.includes('-canary')),
      'the scan finds the exchange',
    )
    for (const { table, text } of kept) {
      for (const canary of canaries)
        assert.ok(!text.includes(canary), `${canary} in ${table}: ${text}`)
      assert.doesNotMatch(text, codeAlone)
    }
    for (const { table, column, text } of leaves) {
      for (const one of secrets)
        assert.ok(text !== one && !(one.length > 6 && text.includes(one)), `${table}.${column}`)
    }
  })

  test('a request with too many persons to scrub keeps no body', async () => {
    const passengers = Array.from({ length: 99 }, (_, index) => ({
      email: `passenger-${index}@example.org`,
      frequentFlyerNumber: `FLYER${index}`,
      dob: `19${String(index).padStart(2, '0')}-01-01`,
    }))
    const { id } = await run.pay({
      ...card(number, { cvv: code }),
      paymentBrand: 'AMEX',
      testMode: 'EXTERNAL',
      merchantTransactionId: 'declines-flight',
      airline: { passengers },
    })
    const { steps } = await run.gateway.payments.steps(id)
    const call = steps.find(({ name }) => name === 'debit')
    assert.equal(call?.requests?.length, 2)
    for (const { sentBody, answeredBody } of call?.requests ?? []) {
      assert.deepEqual([sentBody, answeredBody], ['[withheld]', '[withheld]'])
    }
    assert.doesNotMatch(JSON.stringify(steps), /passenger-1@/)
  })

  test('texts of an acquirer cannot steer the terminal', () => {
    const about = { kind: 'payment', id: 'x', facts: {} } as const
    const hostile = 'fine\u001b[2J\u202eevil\u0007\r\nsecond line'
    const step = {
      number: 1,
      at: new Date(0).toISOString(),
      name: 'debit',
      text: hostile,
      outcome: hostile,
      answered: { [hostile]: hostile },
    }
    const lines = timeline(about, [step], { verbose: true, colours: false })
    assert.doesNotMatch(lines.join('\n'), /[\u0000-\u0009\u000b-\u001f\u202e]/)
    assert.equal(lines.length, 5)
  })
})
