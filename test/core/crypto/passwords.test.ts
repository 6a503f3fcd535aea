import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPassword, Passwords } from '../../../core/crypto/passwords.ts'
import { GatewayError } from '../../../core/index.ts'
import { limits } from '../../../schemas/index.ts'

const quick = { logRounds: 4, blockSize: 8, parallel: 1 }

test('a password is stored with its parameters and its own salt', async () => {
  const passwords = new Passwords(quick)
  const [one, other] = await Promise.all([passwords.digest('secret'), passwords.digest('secret')])
  assert.match(one, /^\$scrypt\$ln=4,r=8,p=1\$[A-Za-z0-9+/=]{24}\$[A-Za-z0-9+/=]{44}$/)
  assert.notEqual(one, other)
  assert.ok(await passwords.matches('secret', one))
  assert.ok(!(await passwords.matches('Secret', one)))
  assert.ok(!(await passwords.matches('secret', undefined)))
  assert.ok(!(await passwords.matches('secret', '$scrypt$ln=99,r=8,p=1$x$y')))
})

test('composed and decomposed characters make the same password', async () => {
  const passwords = new Passwords(quick)
  assert.ok(await passwords.matches('cafe\u0301', await passwords.digest('caf\u00e9')))
})

test('a password hashed with other parameters is valid and reported as outdated', async () => {
  const before = new Passwords(quick)
  const after = new Passwords({ ...quick, logRounds: 5 })
  const stored = await before.digest('secret')
  assert.ok(!before.isOld(stored))
  assert.ok(after.isOld(stored))
  assert.ok(await after.matches('secret', stored))
})

test('logins have a bounded number of checks at once and a bounded queue; further ones must retry', async () => {
  const passwords = new Passwords(quick)
  const places = Array.from({ length: limits.passwordsAtOnce + limits.passwordsWaiting }, () =>
    passwords.forLogin(),
  )
  const busy = (error: unknown) => error instanceof GatewayError && error.status === 429
  assert.throws(() => passwords.forLogin(), busy)
  // Work of operators with a session has a queue of its own.
  assert.ok(!(await passwords.matches('secret', undefined)))
  await Promise.all(places.map((place) => place.matches('secret', undefined)))
  for (const place of places) place.leave()
  passwords.forLogin().leave()
})

test('one operator has a few places in the queue of operators, and leaves the others theirs', async () => {
  const passwords = new Passwords(quick)
  const outcomes = await Promise.allSettled(
    Array.from({ length: limits.passwordsPerPerson + 3 }, () => passwords.digest('secret', 'ann')),
  )
  assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 3)
  const [own, other] = [passwords.digest('secret', 'ann'), passwords.digest('secret', 'bob')]
  assert.match(await own, /^\$scrypt/)
  assert.match(await other, /^\$scrypt/)
})

test('an easily guessed password is refused by name', () => {
  for (const [text, message] of [
    ['short 1', /12 to 256 characters/],
    ['only letters here', /a letter and a digit/],
    ['123456789012', /a letter and a digit/],
    ['jane.jones has 1 password', /must not contain the name/],
    ['aaaaaaaaaaa1', /five different characters/],
  ] as const) {
    assert.throws(() => checkPassword('password', text, 'jane.jones'), message)
  }
  checkPassword('password', 'correct horse 7 battery', 'jane.jones')
})
