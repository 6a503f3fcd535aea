import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Context, declined, notSent, type Operation, unknown } from '@tollgate/plugin-kit'
import fc from 'fast-check'
import { GatewayError, type PaymentView } from '../../core/index.ts'
import {
  type AcquirerRun,
  approvedAs,
  enquire,
  type Script,
  startWithAcquirer,
} from '../rig/acquirer.ts'
import { balanceOf, checkBooks, closeChecked } from '../rig/books.ts'
import { inScope } from '../rig/scope.ts'
import {
  type Account,
  capture,
  type Fate,
  increase,
  type Model,
  newAccount,
  type Reservation,
  refund,
  release,
  replace,
  undo,
} from './payment-model.ts'

const codes: Record<Fate, string> = {
  approved: '000.100.112',
  declined: '800.100.155',
  'not-sent': '900.100.600',
  'lost-approved': '000.200.001',
  'lost-declined': '000.200.001',
}
const eur = (minor: number) => ({ amount: (minor / 100).toFixed(2), currency: 'EUR' as const })

const refuse = (_: Operation, context: Context) => {
  context.sending()
  return declined('800.100.155')
}
const lose = (_: Operation, context: Context) => {
  context.sending()
  return unknown('the line went dead')
}
/** The acquirer's behaviour for each fate. */
const scripts: Record<Fate, Script> = {
  approved: {},
  declined: everywhere(refuse),
  'not-sent': everywhere(() => notSent('circuit open')),
  'lost-approved': { ...everywhere(lose), enquire: approvedAs },
  'lost-declined': { ...everywhere(lose), enquire: () => declined('800.100.155') },
}
function everywhere(answer: NonNullable<Script['debit']>): Script {
  return { authorize: answer, capture: answer, refund: answer, reverse: answer, increment: answer }
}

type System = { readonly run: AcquirerRun }
type Command = fc.AsyncCommand<Model, System>
type Fields = Record<string, unknown>

let operations = 0

/** Sends one follow-up and compares the engine's answer with the model's. */
async function hold(
  { run }: System,
  model: Model,
  on: string,
  fields: Fields,
  fate: Fate,
  decided: Reservation | string,
): Promise<void> {
  operations += 1
  const reference = `operation-${operations}`
  run.acquirer.tell(reference, scripts[fate])
  const request = { ...fields, merchantTransactionId: reference }
  const answer: PaymentView | GatewayError = await run.gateway.payments
    .followUp(on, request as never)
    .catch((error: unknown) => {
      if (error instanceof GatewayError) return error
      throw error
    })
  if (typeof decided === 'string') {
    assert.ok(
      answer instanceof GatewayError,
      `${fields.paymentType} should be refused with ${decided}`,
    )
    assert.equal(answer.code, decided)
    assert.deepEqual(run.acquirer.of(reference), [], 'nothing is sent for a refused follow-up')
    return
  }
  assert.ok(
    !(answer instanceof GatewayError),
    `${fields.paymentType} was refused: ${JSON.stringify(answer)}`,
  )
  assert.equal(answer.result.code, codes[fate])
  if (fate === 'approved') decided.approve(answer.id)
  else if (fate === 'declined' || fate === 'not-sent') decided.giveBack()
  else model.lost.push({ id: answer.id, fate, reservation: decided })
}

/** Every balance, as the model has it. */
async function compare({ run }: System, model: Model): Promise<void> {
  for (const account of model.accounts) {
    const {
      authorised,
      increasing,
      capturing,
      captured,
      reversing,
      reversed,
      refunding,
      refunded,
      captures,
    } = account
    const expected = {
      authorised,
      increasing,
      capturing,
      captured,
      reversing,
      reversed,
      refunding,
      refunded,
      captures,
    }
    const found = Object.entries(await balanceOf(run, account.id)).map(([name, value]) => [
      name,
      Number(value),
    ])
    assert.deepEqual(Object.fromEntries(found), expected)
  }
}

const pick = <T>(list: readonly T[], at: number): T => list[at % list.length]!
const ofKind = (model: Readonly<Model>, kind: Account['kind']) =>
  model.accounts.filter((account) => account.kind === kind)

function command(
  name: string,
  kind: Account['kind'],
  at: number,
  act: (model: Model, on: Account, system: System) => Promise<void>,
): Command {
  return {
    check: (model) => ofKind(model, kind).length > 0,
    async run(model, system) {
      await act(model, pick(ofKind(model, kind), at), system)
      await compare(system, model)
    },
    toString: () => `${name} #${at}`,
  }
}

const index = fc.nat({ max: 5 })
const minor = fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 9500 }))
const final = fc.integer({ min: 0, max: 9 }).map((one) => one === 0)
const fate = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Fate>('approved') },
  { weight: 1, arbitrary: fc.constantFrom<Fate>('declined', 'not-sent') },
  { weight: 2, arbitrary: fc.constantFrom<Fate>('lost-approved', 'lost-declined') },
)
const sequence = (is: boolean): Fields => (is ? { sequence: 'FINAL' } : {})
const practice = (industryPractice: string): Fields => ({
  standingInstruction: { industryPractice },
})

const commands: fc.Arbitrary<Command>[] = [
  fc
    .tuple(index, minor, final, fate, index)
    .map(([at, amount, last, end, member]) =>
      command(
        `capture ${amount} ${end}${last ? ' FINAL' : ''}`,
        'authorisation',
        at,
        (model, on, system) =>
          hold(
            system,
            model,
            pick(on.members, member),
            { paymentType: 'CP', ...eur(amount), ...sequence(last) },
            end,
            capture(model, on, { minor: amount, final: last }),
          ),
      ),
    ),
  fc
    .tuple(index, fc.option(minor, { nil: undefined }), final, fate)
    .map(([at, amount, last, end]) =>
      command(`release ${amount ?? 'all'} ${end}`, 'authorisation', at, (model, on, system) =>
        hold(
          system,
          model,
          on.id,
          { paymentType: 'RV', ...(amount === undefined ? {} : eur(amount)), ...sequence(last) },
          end,
          release(on, { final: last, ...(amount === undefined ? {} : { minor: amount }) }),
        ),
      ),
    ),
  fc
    .tuple(index, fate)
    .map(([at, end]) =>
      command(`undo ${end}`, 'sale', at, (model, on, system) =>
        hold(system, model, on.id, { paymentType: 'RV' }, end, undo(on)),
      ),
    ),
  fc
    .tuple(index, minor, final, fate)
    .map(([at, amount, last, end]) =>
      command(`refund ${amount} ${end}`, 'sale', at, (model, on, system) =>
        hold(
          system,
          model,
          on.id,
          { paymentType: 'RF', ...eur(amount), ...sequence(last) },
          end,
          refund(on, { minor: amount, final: last }),
        ),
      ),
    ),
  fc
    .tuple(index, minor, fate)
    .map(([at, amount, end]) =>
      command(`increase ${amount} ${end}`, 'authorisation', at, (model, on, system) =>
        hold(
          system,
          model,
          on.id,
          { paymentType: 'PA', ...eur(amount), ...practice('INCREMENTAL_AUTH') },
          end,
          increase(on, amount),
        ),
      ),
    ),
  fc
    .tuple(index, minor, fate)
    .map(([at, amount, end]) =>
      command(`replace ${amount} ${end}`, 'authorisation', at, (model, on, system) =>
        hold(
          system,
          model,
          on.id,
          { paymentType: 'PA', ...eur(amount), ...practice('REAUTHORIZATION') },
          end,
          replace(model, on, amount),
        ),
      ),
    ),
  index.map((at) => ({
    check: (model) => model.lost.length > 0,
    async run(model: Model, system: System) {
      await find(system, model, at % model.lost.length)
      await compare(system, model)
    },
    toString: () => `find out #${at}`,
  })),
]

async function find({ run }: System, model: Model, at: number): Promise<void> {
  const [one] = model.lost.splice(at, 1)
  const { result } = await enquire(run, one!.id)
  const isApproved = one!.fate === 'lost-approved'
  assert.equal(result.code, isApproved ? codes.approved : codes.declined)
  if (isApproved) one!.reservation.approve(one!.id)
  else one!.reservation.giveBack()
}

describe('a model of payment trees', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer()
  })
  after(() => closeChecked(run))

  test('the engine agrees with the rules to the cent for any requests in any order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.commands(commands, { maxCommands: 60, size: 'max' }),
        fc.integer({ min: 1, max: 6 }),
        async (asked, max) => {
          const { id } = await run.debit(
            'model-authorisation',
            {},
            { paymentType: 'PA', numberOfCaptures: `${max}` },
          )
          const model: Model = {
            accounts: [newAccount(id, 'authorisation', 9200, { max })],
            lost: [],
          }
          const system = { run }
          await fc.asyncModelRun(() => ({ model, real: system }), asked)
          // At rest nothing is reserved any more.
          while (model.lost.length > 0) await find(system, model, 0)
          await compare(system, model)
        },
      ),
      inScope({ numRuns: 6, seed: 1 }, { numRuns: 40 }),
    )
    await checkBooks(run)
  })
})
