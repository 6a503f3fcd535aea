import type { Attack } from './attack.ts'
import { own } from './ground.ts'
import { wrongWith } from './judge.ts'
import { cardNumber, codeOf, debitFields } from './payments.ts'
import { get, post, sendAll } from './wire.ts'

const perSecond = 20

export const cardTesting: Attack = {
  name: 'cards',
  title: 'many card numbers in a short time by one token, against the throttle',
  async run(run) {
    const { ground, random } = run
    const host = await ground.another({ TOLLGATE_WRITES_PER_SECOND: String(perSecond) })
    try {
      const [attacker, bystander] = [ground.tokens[0]!, ground.tokens[2]!]
      const count = run.profile === 'full' ? 5_000 : 500
      const numbers = Array.from({ length: count }, () => cardNumber(`42${random.digits(13)}`))
      const startedMs = performance.now()
      const burst = sendAll(
        host.url,
        numbers.map((number) =>
          post('/v1/payments', attacker, {
            ...debitFields,
            entityId: own.channel,
            amount: '1.00',
            'card.number': number,
          }),
        ),
        { connections: 20, pipelined: 4, withinMs: 60_000 },
      )
      const others = sendAll(
        host.url,
        [
          ...Array.from({ length: 5 }, () =>
            post('/v1/payments', bystander, { ...debitFields, entityId: own.channel }),
          ),
          ...Array.from({ length: 5 }, () => get(`/v1/payments/${'0'.repeat(32)}`, attacker)),
        ],
        { connections: 1, pipelined: 1, withinMs: 60_000 },
      )
      const [answers, honest] = await Promise.all([burst, others])
      const seconds = (performance.now() - startedMs) / 1000
      let throttled = 0
      for (const answer of answers) {
        const wrong = wrongWith(answer)
        if (wrong !== undefined) run.find(wrong, answer.body)
        if (answer.status !== 429) continue
        throttled += 1
        if (codeOf(answer) !== '800.120.100') run.find('429 with another code', answer.body)
        if (!(Number(answer.headers.get('retry-after')) >= 1))
          run.find('429 without Retry-After', '')
      }
      const tested = answers.length - throttled
      // The number of windows of a second, including unfinished ones.
      const allowed = perSecond * (Math.ceil(seconds) + 1)
      if (tested > allowed) run.find('more cards tested than allowed', `${tested} of ${allowed}`)
      if (throttled === 0) run.find('nothing was throttled', `${answers.length} requests`)
      for (const { status, body } of honest) {
        if (status === 429) run.find('another token, or a read, is throttled as well', body)
      }
      return { cards: count, tested, allowed, throttled, seconds: seconds.toFixed(1) }
    } finally {
      await host.close()
    }
  },
}
