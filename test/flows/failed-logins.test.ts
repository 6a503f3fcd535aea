/** The work of a failed login does not tell whether its name exists. */
import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { Passwords } from '../../core/crypto/passwords.ts'
import { limits } from '../../schemas/index.ts'
import { startGateway, type TestGateway } from '../rig/gateway.ts'
import { codeOf, type Enrolled, enrol, movedClock, password } from '../rig/operators.ts'

/** Statements as they were sent, and the rounds of all derivations, since the last look. */
const work = { statements: [] as string[], rounds: 0 }

function look() {
  const seen = { statements: work.statements, rounds: work.rounds }
  Object.assign(work, { statements: [], rounds: 0 })
  return seen
}

const query = pg.Client.prototype.query
const scrypt = crypto.scrypt

describe('a failed login', () => {
  const clock = movedClock()
  let run: TestGateway
  let jane: Enrolled
  let networks = 0

  before(async () => {
    run = await startGateway({ role: 'api', clock, passwordLogRounds: 8 })
    jane = await enrol(run.gateway, 'jane', 'admin')
    const gone = await enrol(run.gateway, 'gone', 'viewer')
    await run.gateway.people.disable(gone.id)
    pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
      const [first] = given as [string | { text?: string }]
      const text = typeof first === 'string' ? first : (first?.text ?? '')
      if (/login_failure|tollgate\.person|recovery_code|audit/.test(text)) {
        work.statements.push(text)
      }
      return Reflect.apply(query, this, given)
    } as typeof query
    crypto.scrypt = ((...given: Parameters<typeof scrypt>) => {
      const { N = 0, r = 1, p = 1 } = given[3] as { N?: number; r?: number; p?: number }
      work.rounds += N * r * p
      return Reflect.apply(scrypt, crypto, given)
    }) as typeof scrypt
    syncBuiltinESMExports()
  })
  after(async () => {
    pg.Client.prototype.query = query
    crypto.scrypt = scrypt
    syncBuiltinESMExports()
    await run.close()
  })

  /** Every attempt comes from a network of its own, so that no address has to wait. */
  const workOf = async (request: object) => {
    networks += 1
    look()
    await assert.rejects(
      run.gateway.people.login({ password: 'not the one 1', ...request } as never, {
        network: `network ${networks}`,
      }),
      { status: 401 },
    )
    return look()
  }
  const unlock = () => run.sql('delete from tollgate.login_failure')

  test('costs the same with a known name, an unknown one and one of a person who left', async () => {
    const byCode = { code: '000000' }
    const byRecovery = { recoveryCode: 'AAAA-BBBB-CCCC-DDDD' }
    for (const proof of [byCode, byRecovery, {}]) {
      const known = await workOf({ name: 'jane', ...proof })
      assert.ok(known.statements.length >= 5 && known.rounds > 0, JSON.stringify(known))
      assert.deepEqual(await workOf({ name: 'gone', ...proof }), known)
      assert.deepEqual(await workOf({ name: 'nobody', ...proof }), known)
      // Nor does a right password show before its code is right too.
      assert.deepEqual(await workOf({ name: 'jane', password, ...proof }), known)
      await unlock()
    }
  })

  test('costs the same after many strangers, whose failures are no longer on record', async () => {
    const strangers = async () =>
      (await run.sql("select id from tollgate.audit where actor = 'unknown'")).length
    for (let no = 0; no <= limits.strangersOnRecord; no += 1) {
      await workOf({ name: `stranger ${no}`, code: '000000' })
    }
    const onRecord = await strangers()
    const unknown = await workOf({ name: 'one stranger more', code: '000000' })
    assert.equal(await strangers(), onRecord)
    assert.deepEqual(await workOf({ name: 'jane', code: '000000' }), unknown)
    const [row] = await run.sql<{ told: bigint }>(
      "select count(*) as told from tollgate.audit where resource = $1 and action = 'person.login-failed'",
      [jane.id],
    )
    assert.ok(Number(row!.told) > 0)
    await unlock()
  })

  test('is answered after a commit also where nothing is put on record', async () => {
    for (let no = 0; no <= limits.strangersOnRecord; no += 1) {
      await workOf({ name: `guest ${no}`, code: '000000' })
    }
    await unlock()
    await workOf({ name: 'another stranger', code: '000000' })
    // The name's row is written twice, the one of its address once: when counted, and instead of the record.
    const rows = await run.sql<{ isWrittenAgain: boolean }>(
      `select xmin::text::bigint > min(xmin::text::bigint) over () + 1 as "isWrittenAgain"
         from tollgate.login_failure`,
    )
    assert.deepEqual(rows.map(({ isWrittenAgain }) => isWrittenAgain).sort(), [false, true])
    await unlock()
  })

  test('begins the pause of a name with the same work', async () => {
    const begin = async (name: string) => {
      for (let no = 1; no < limits.loginFailures; no += 1) await workOf({ name, code: '000000' })
      return workOf({ name, code: '000000' })
    }
    assert.deepEqual(await begin('jane'), await begin('somebody'))
    await unlock()
  })

  test('of an invitation costs the same', async () => {
    const join = async (name: string) => {
      networks += 1
      look()
      const request = {
        name,
        password: 'not the one 1',
        invitation: 'AAAA-BBBB',
        newPassword: 'another horse 9 x',
      }
      await assert.rejects(run.gateway.people.join(request, { network: `network ${networks}` }), {
        status: 401,
      })
      return look()
    }
    assert.deepEqual(await join('jane'), await join('nobody'))
    await unlock()
  })

  test('costs as much with a digest of older parameters as with one of now', async () => {
    const older = await new Passwords({ ...limits.passwordHash, logRounds: 5 }).digest(password)
    await run.sql('update tollgate.person set password = $2 where id = $1', [jane.id, older])
    const known = await workOf({ name: 'jane', code: '000000' })
    assert.equal(known.rounds, (await workOf({ name: 'nobody', code: '000000' })).rounds)
    await unlock()
  })

  test('leaves a right login as it was', async () => {
    clock.forward(limits.codeStepMs)
    const right = { name: 'jane', password, code: codeOf(jane.secret, clock.realMs()) }
    assert.equal((await run.gateway.people.login(right)).personId, jane.id)
    const [recoveryCode = ''] = jane.recoveryCodes
    const recovered = { name: 'jane', password, recoveryCode }
    assert.equal(
      (await run.gateway.people.login(recovered)).recoveryCodes,
      jane.recoveryCodes.length - 1,
    )
  })
})
