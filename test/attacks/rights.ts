/**
 * Attempts to make a payment of a type that the token lacks: the type sent elsewhere, twice, or in
 * another spelling.
 */
import { endpoints, operationNamed, paymentTypes } from '../../schemas/index.ts'
import type { Attack, AttackRun } from './attack.ts'
import { own } from './ground.ts'
import { wrongWith } from './judge.ts'
import { debitFields, pay } from './payments.ts'
import { type Answer, requestBytes, sendAll } from './wire.ts'

const wire = { connections: 8, pipelined: 8, withinMs: 60_000 }
const form = ['Content-Type', 'application/x-www-form-urlencoded'] as const
const json = ['Content-Type', 'application/json'] as const

type Sent = {
  readonly type: readonly [string, string]
  readonly query: string
  readonly body: string
}

/** Spellings of `wanted` in a request whose token may only make `allowed`. */
function spellings(fields: string, allowed: string, wanted: string): Sent[] {
  const plain = (more: string, query = ''): Sent => ({
    type: form,
    query,
    body: `${fields}&${more}`,
  })
  const nested = (types: string): Sent => ({
    type: json,
    query: '',
    body: `{${types},"amount":"1.00"}`,
  })
  return [
    plain(`paymentType=${wanted}`),
    plain(`paymentType=${wanted}`, `?paymentType=${allowed}`),
    plain(`paymentType=${allowed}`, `?paymentType=${wanted}`),
    plain(`paymentType=${allowed}&paymentType=${wanted}`),
    plain(`paymentType=${wanted}&paymentType=${allowed}`),
    plain(`paymentType=&paymentType=${wanted}`),
    plain(`payment%54ype=${wanted}`),
    plain(`paymentType[]=${wanted}`),
    plain(`paymentType[0]=${wanted}`),
    plain(`paymentType.code=${wanted}`),
    plain(`PaymentType=${wanted}`),
    plain(`paymentType=${wanted.toLowerCase()}`),
    plain(`paymentType=${allowed},${wanted}`),
    plain(`paymentType=+${wanted}`),
    plain(`paymentType=${wanted}%00`),
    plain(`paymentType=${allowed}&overridePaymentType[VISA]=${wanted}`),
    plain(`paymentType=${allowed}&overridePaymentType%5BVISA%5D=${wanted}`),
    nested(`"paymentType":"${wanted}"`),
    nested(`"paymentType":"${allowed}","paymentType":"${wanted}"`),
    nested(`"paymentType":["${wanted}"]`),
    nested(`"paymentType":{"0":"${wanted}"}`),
    nested(`"__proto__":{"paymentType":"${wanted}"},"paymentType":"${allowed}"`),
  ]
}

/** The other fields of an operation, so that only the right can refuse the request. */
function fieldsFor(operation: string, mark: string, registrationId: string): string {
  const all: Record<string, string> = { ...debitFields, amount: '1.00' }
  const named = operationNamed(operation).fields.map(({ name }) => name)
  const fits = Object.entries(all).filter(
    ([name]) =>
      named.includes(name) &&
      name !== 'paymentType' &&
      !(operation.startsWith('registrations') && name.startsWith('card.')),
  )
  const fields = new URLSearchParams([...fits, ['merchantTransactionId', mark]])
  if (named.includes('entityId')) fields.set('entityId', own.channel)
  if (operation === 'schedules.create') {
    fields.set('registrationId', registrationId)
    fields.set('job.hour', '6')
  }
  return fields.toString()
}

export const rightsOfTokens: Attack = {
  name: 'rights',
  title: 'what a token has no right to, in every spelling of the payment type',
  async run(run) {
    const { ground } = run
    const host = await ground.host()
    const owner = ground.tokens[0]!
    const paymentId = await pay(host.url, owner, { entityId: own.channel })
    const registrationId = await pay(host.url, owner, {
      entityId: own.channel,
      createRegistration: 'true',
    }).then((id) => registrationOf(run, id))
    const ids: Readonly<Record<string, string>> = {
      payments: paymentId,
      registrations: registrationId,
    }
    let requests = 0
    for (const [right, token] of ground.without) {
      const mark = `lacks-${right}`
      const types = paymentTypes.filter((type) => type.right === right && type.use !== 'record')
      const allowed = right === 'charge' ? 'CD' : 'DB'
      for (const { operation, path } of endpoints) {
        if (!operationNamed(operation).fields.some(({ name }) => name === 'paymentType')) continue
        if (!path.includes('payments') && !path.includes('schedules')) continue
        const noun = /\/([^/{]+)\/\{id\}/.exec(path)?.[1] ?? ''
        const at = path.replace('{id}', ids[noun] ?? '')
        const fields = fieldsFor(operation, mark, registrationId)
        const sent = types.flatMap(({ code }) => spellings(fields, allowed, code))
        const bytes = sent.map(({ type, query, body }) =>
          requestBytes(
            'POST',
            at + query,
            [['Authorization', `Bearer ${token}`], type],
            Buffer.from(body),
          ),
        )
        requests += bytes.length
        const answers = await sendAll(host.url, bytes, wire)
        for (const [index, answer] of answers.entries()) judge(run, right, answer, bytes[index]!)
      }
      await lookAtRows(run, right, mark)
      if (right === 'charge' || right === 'payout') {
        requests += await turnCheckout(run, host.url, right, token)
      }
    }
    return { requests, rights: ground.without.size }
  },
}

function judge(run: AttackRun, right: string, answer: Answer, request: Buffer): void {
  const wrong = wrongWith(answer)
  if (wrong !== undefined) run.find(wrong, request.toString())
  if (answer.status !== 200) return
  const { paymentType } = JSON.parse(answer.body) as { paymentType?: string }
  if (paymentTypes.find(({ code }) => code === paymentType)?.right === right) {
    run.find(`a token without the right ${right} has a ${paymentType} made`, request.toString())
  }
}

/** A checkout of a type that the token lacks becomes one of a type that it has, and ends. */
async function turnCheckout(
  run: AttackRun,
  url: string,
  right: 'charge' | 'payout',
  token: string,
): Promise<number> {
  const { ground, find } = run
  const [lacked, allowed] = right === 'charge' ? ['DB', 'CD'] : ['CD', 'DB']
  const ask = (method: string, path: string, by: string, body?: string) =>
    sendAll(
      url,
      [
        requestBytes(
          method,
          path,
          [['Authorization', `Bearer ${by}`], ...(body === undefined ? [] : [form])],
          body === undefined ? undefined : Buffer.from(body),
        ),
      ],
      wire,
    ).then(([answer]) => answer!)
  const made = await ask(
    'POST',
    '/v1/checkouts',
    ground.tokens[0]!,
    `entityId=${own.channel}&amount=5.00&currency=EUR&paymentType=${lacked}`,
  )
  const { id } = JSON.parse(made.body) as { id: string }
  const at = `/v1/checkouts/${id}`
  const bodies = [
    'amount=900.00',
    `paymentType=${allowed}`,
    `paymentType=${allowed}&amount=900.00`,
    `overridePaymentType[VISA]=${allowed}`,
    'createRegistration=true',
  ]
  const answers: Answer[] = []
  for (const body of bodies) answers.push(await ask('POST', at, token, body))
  answers.push(await ask('DELETE', at, token))
  for (const [index, { status }] of answers.entries()) {
    if (made.status === 200 && status === 403) continue
    find(`a token without the right ${right} got ${status}`, bodies[index] ?? `DELETE ${at}`)
  }
  return answers.length
}

/** The stored rows decide, not the answers. */
async function lookAtRows({ ground, find }: AttackRun, right: string, mark: string): Promise<void> {
  const rows = await ground.sql<{ payment_type: string }>(
    `select payment_type from tollgate.payment where merchant_transaction_id = $1
     union all select payment_type from tollgate.schedule where merchant_transaction_id = $1`,
    [mark],
  )
  for (const { payment_type: type } of rows) {
    const isIts = paymentTypes.some((one) => one.code === type && one.right === right)
    if (isIts) find(`a token without the right ${right} made rows of type ${type}`, mark)
  }
}

async function registrationOf({ ground }: AttackRun, paymentId: string): Promise<string> {
  const [row] = await ground.sql<{ id: string }>(
    `select replace(id::text, '-', '') as id from tollgate.registration
      where channel_id = $1 order by id desc limit 1`,
    [own.channel],
  )
  if (row === undefined) throw new Error(`payment ${paymentId} made no registration`)
  return row.id
}
