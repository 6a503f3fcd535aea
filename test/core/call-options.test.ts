/** A program without types misspells an option: every method refuses it by name, and does nothing. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { GatewayError } from '../../core/index.ts'
import { callMethod, everyMethod } from '../rig/every-method.ts'
import { startGateway, type TestGateway } from '../rig/gateway.ts'

/** The place of the options among the arguments of each method that takes options. */
const places: readonly (readonly string[])[] = [
  [
    ...['accounts.list', 'audit.export', 'audit.list', 'audit.search', 'entities.create'],
    ...['people.create', 'people.join', 'people.list', 'people.login', 'people.proposals'],
    ...['reports.cut', 'settlement.exceptions', 'settlement.files', 'settlement.unsettled'],
  ],
  [
    ...['accounts.add', 'accounts.check', 'accounts.disable', 'accounts.enable', 'accounts.set'],
    ...['checkouts.create', 'checkouts.payment', 'checkouts.registration', 'checkouts.remove'],
    ...['checkouts.state', 'entities.create', 'entities.createAccount'],
    ...['entities.dispatching.choose', 'entities.revokeToken', 'entities.rotateToken'],
    ...['events.get', 'events.list', 'inspect', 'operator.enquire', 'operator.redrive'],
    ...['operator.resolve', 'operator.retry', 'operator.reverseChargeback'],
    ...['payments.accept', 'payments.create', 'payments.get', 'payments.steps', 'people.change'],
    ...['people.confirm', 'people.create', 'people.disable', 'people.enable', 'people.join'],
    ...['people.logOut', 'people.login', 'people.personOf', 'people.unlock'],
    ...['query.all', 'query.get', 'query.linked', 'query.search', 'registrations.create'],
    ...['registrations.extend', 'registrations.get', 'registrations.remove'],
    ...['registrations.sameAccount', 'registrations.steps', 'reportDestinations.create'],
    ...['reportDestinations.get', 'reportDestinations.list', 'reportDestinations.remove'],
    ...['reportDestinations.test', 'reports.aggregation', 'reports.aggregations', 'reports.file'],
    ...['reports.files', 'schedules.cancel', 'schedules.create', 'schedules.get'],
    ...['schedules.list', 'schedules.preview', 'schedules.steps', 'servedFiles.createKey'],
    ...['servedFiles.listKeys', 'servedFiles.removeKey', 'settlement.check', 'settlement.fetch'],
    ...['settlement.file', 'settlement.import', 'settlement.rerun', 'testClocks.create'],
    ...['testClocks.get', 'threeDSecure.create', 'threeDSecure.get', 'webhooks.create'],
    ...['webhooks.get', 'webhooks.list', 'webhooks.remove', 'webhooks.rotate', 'webhooks.test'],
  ],
  [
    ...['accounts.rotate', 'accounts.set', 'checkouts.update', 'entities.configure'],
    ...['entities.createToken', 'entities.dispatching.add', 'entities.dispatching.remove'],
    ...['entities.dispatching.replace', 'operator.settle', 'payments.acceptFollowUp'],
    ...['payments.capture', 'payments.followUp', 'payments.rebill', 'payments.refund'],
    ...['payments.reverse', 'people.change', 'people.reject', 'people.reset'],
    ...['registrations.accept', 'registrations.pay', 'registrations.update'],
    ...['reportDestinations.deliveries', 'reportDestinations.replay', 'reportDestinations.update'],
    ...['reports.recordPage', 'reports.records', 'schedules.executions', 'schedules.reschedule'],
    ...['sendJob', 'settlement.assign', 'subscribe', 'testClocks.advance'],
    ...['webhooks.deliveries', 'webhooks.replay', 'webhooks.update'],
  ],
]

/** Methods without options: ids and values, each in a place of its own, or what a browser or an acquirer sent. */
const without: readonly string[] = [
  ...['accounts.channelOf', 'accounts.connectors', 'accounts.counts', 'accounts.show'],
  ...['attention', 'audit.anchor', 'audit.forget', 'audit.tellRead', 'audit.verify'],
  ...['authenticate', 'checkouts.offer', 'checkouts.submit', 'entities.close'],
  ...['entities.dispatching.list', 'entities.get', 'entities.list', 'entities.open'],
  ...['entities.tokens', 'holds', 'inbound', 'installationKey', 'merchantOf', 'on'],
  ...['operator.attention', 'pages.serves', 'pages.visit', 'people.answer', 'people.named'],
  ...['servedFiles.listen', 'servedFiles.portOf', 'shoppers.cameBack'],
  ...['widget.asset', 'widget.frame', 'widget.script'],
]

describe('a misspelt option', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api', jobs: [{ name: 'mail', run: async () => {} }] })
  })
  after(() => run.close())

  async function thrownBy(path: string, given: readonly unknown[]): Promise<unknown> {
    try {
      const value = callMethod(run.gateway, path, given)
      if (typeof value === 'object' && value !== null && Symbol.asyncIterator in value) {
        for await (const _ of value as AsyncIterable<unknown>) break
      } else await value
    } catch (error) {
      return error
    }
    return 'nothing'
  }

  const told = (error: unknown) =>
    error instanceof GatewayError
      ? [error.code, ...error.parameterErrors.map((one) => `${one.name} ${one.message}`)].join(' ')
      : String(error)

  test('has a place in this test for every method', () => {
    const known = new Set([...places.flat(), ...without])
    assert.deepEqual([...known].sort(), everyMethod(run.gateway))
    assert.deepEqual(
      without.filter((path) => places.flat().includes(path)),
      [],
    )
  })

  test('is refused by every method that takes options', async () => {
    const work = async () => {}
    const first: Record<string, readonly unknown[]> = {
      sendJob: ['mail', {}],
      subscribe: ['a', work],
    }
    const wrong: string[] = []
    for (const [at, paths] of places.entries()) {
      for (const path of paths) {
        const before = first[path] ?? Array.from({ length: at })
        const error = told(await thrownBy(path, [...before, { nonsense: true }]))
        if (error !== '200.300.404 nonsense is no option of this call') {
          wrong.push(`${path} at ${at}: ${error}`)
        }
      }
    }
    assert.deepEqual(wrong, [])
  })
})
