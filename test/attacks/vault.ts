import type { Attack, AttackRun } from './attack.ts'
import { foreign, own } from './ground.ts'
import { cardNumber, codeOf, debitFields, saidIn } from './payments.ts'
import { type Answer, get, post, sendAll } from './wire.ts'

const distinct = 5
const victimsNumber = '4711100000000000'
const { amount: _, currency: __, paymentType: ___, ...account } = debitFields

/** Numbers with the same first six and last four digits as `number`, including that number. */
function candidates(number: string, count: number): string[] {
  const found = [number]
  for (let no = 0; found.length < count; no += 1) {
    const one = cardNumber(
      `${number.slice(0, 6)}${String(no).padStart(6, '0')}${number.slice(-4, -1)}`,
    )
    if (one.endsWith(number.slice(-4)) && one !== number) found.push(one)
  }
  return found
}

/** Another merchant's card: charged through changed rows, and guessed by registering candidates. */
export const vault: Attack = {
  name: 'vault',
  title: "another merchant's card, through changed rows and through candidates for its number",
  async run(run) {
    const { ground } = run
    const settings = JSON.stringify({ showFingerprint: true, distinctNumbers: distinct })
    const configured = `update tollgate.entity set settings = $2 where id = any($1::uuid[])`
    const merchants = [own.merchant, foreign.merchant]
    await ground.sql(configured, [merchants, settings])
    const host = await ground.another({})
    try {
      const ask = async (request: Buffer): Promise<Answer> => {
        const [answer] = await sendAll(host.url, [request], {
          connections: 1,
          pipelined: 1,
          withinMs: 60_000,
        })
        return answer!
      }
      const store = async (token: string, entityId: string, number: string): Promise<string> => {
        const fields = { ...account, entityId, 'card.number': number }
        return String(saidIn(await ask(post('/v1/registrations', token, fields))).id)
      }
      const victim = await store(ground.foreignToken, foreign.channel, victimsNumber)
      const opened = await changedRows(run, ask, store, victim)
      const told = await fingerprints(ask, run, store, victim)
      const taken = await guesses(run, host.url)
      return {
        'rows changed': opened.tried,
        charged: opened.charged,
        'fingerprints alike': told,
        ...taken,
      }
    } finally {
      await host.close()
      await ground.sql(configured, [merchants, '{}'])
    }
  },
}

type Ask = (request: Buffer) => Promise<Answer>
type Store = (token: string, entityId: string, number: string) => Promise<string>

async function changedRows({ ground, find }: AttackRun, ask: Ask, store: Store, victim: string) {
  const token = ground.tokens[0]!
  const changes = {
    'the registration points at foreign numbers':
      'update tollgate.registration set instrument_id = $2 where id = $1',
    'the sealed bytes are copied':
      'update tollgate.instrument set (sealed, data_key_id) = (select sealed, data_key_id from tollgate.instrument where id = $2) where id = $1',
    'the registration is moved to a channel of the attacker': `update tollgate.registration set channel_id = '${own.channel}' where id = $2 and $1::uuid is not null`,
  }
  let charged = 0
  for (const [what, text] of Object.entries(changes)) {
    const mine = await store(token, own.channel, debitFields['card.number']!)
    await ground.sql(text, [mine, victim])
    const target = what.includes('moved') ? victim : mine
    const fields = { entityId: own.channel, amount: '1.00', currency: 'EUR', paymentType: 'DB' }
    const answer = await ask(post(`/v1/registrations/${target}/payments`, token, fields))
    if (codeOf(answer).startsWith('000.')) {
      charged += 1
      find(`a foreign card is charged: ${what}`, answer.body)
    }
  }
  await ground.sql('update tollgate.registration set channel_id = $2 where id = $1', [
    victim,
    foreign.channel,
  ])
  return { tried: Object.keys(changes).length, charged }
}

/** Counts fingerprints of the same number that two merchants share. */
async function fingerprints(ask: Ask, { ground, find }: AttackRun, store: Store, victim: string) {
  const mine = await store(ground.tokens[0]!, own.channel, victimsNumber)
  const shown = async (id: string, token: string, entityId: string) => {
    const answer = await ask(get(`/v1/registrations/${id}?entityId=${entityId}`, token))
    const { fingerprint } = saidIn(answer) as { fingerprint?: string }
    if (fingerprint === undefined)
      find('a channel that asks for fingerprints shows none', answer.body)
    return fingerprint
  }
  const [one, two] = [
    await shown(victim, ground.foreignToken, foreign.channel),
    await shown(mine, ground.tokens[0]!, own.channel),
  ]
  if (one !== two) return 0
  find('two merchants see the same fingerprint for one number', String(one))
  return 1
}

/** Candidates as payments, verifications and stored payments, by one token and by many. */
async function guesses({ ground, profile, find }: AttackRun, url: string) {
  const count = profile === 'full' ? 2_000 : 100
  const number = cardNumber('471110000000123'.slice(0, 15))
  const requests = candidates(number, count).map((one, no) => {
    const token = ground.tokens[no % 3 === 0 ? 0 : (2 * no) % 100]!
    const fields = { ...account, entityId: own.channel, 'card.number': one }
    if (no % 3 === 0) return post('/v1/registrations', token, fields)
    const more = { amount: '1.00', currency: 'EUR', paymentType: 'DB' }
    const stored = no % 3 === 1 ? { createRegistration: 'true' } : {}
    return post('/v1/payments', token, { ...fields, ...more, ...stored })
  })
  const answers = await sendAll(url, requests, { connections: 8, pipelined: 1, withinMs: 60_000 })
  const refused = answers.filter(({ status }) => status === 429)
  for (const { headers, body } of refused) {
    if (!(Number(headers.get('retry-after')) >= 60)) find('429 without a time to wait', body)
  }
  const taken = answers.length - refused.length
  if (taken > distinct) find('more candidates taken than allowed', `${taken} of ${distinct}`)
  return { candidates: count, taken }
}
