import type { Attack, AttackRun } from './attack.ts'
import { own } from './ground.ts'
import { cardNumber } from './payments.ts'
import {
  ask,
  askAll,
  cardOf,
  openCheckout,
  paymentsOf,
  press,
  pressed,
  stateOf,
} from './shopper.ts'

const tries = 10
const byAddress = 12
const byNumber = 4

/** The shopper as the proxy in front of the host sees it, after what the shopper's own request claims. */
const from = (claimed: string) => [['X-Forwarded-For', `${claimed}, 93.184.216.34`]] as const

/** Holders that make the simulator decline any number. */
const declined = { 'card.holder': '800.100.152' }

export const checkoutCards: Attack = {
  name: 'checkout-cards',
  title: 'card numbers and security codes tested through checkouts, against tries and counts',
  async run(run) {
    const usual = await run.ground.host()
    const atOnce = await inOneCheckout(run, usual.url)
    const host = await run.ground.another({
      TOLLGATE_CARD_TESTING_ADDRESS: String(byAddress),
      TOLLGATE_CARD_TESTING_NUMBER: String(byNumber),
      TOLLGATE_TRUSTED_PROXY: 'loopback',
    })
    try {
      const numbers = await overNumber(run, host.url)
      const many = await overCheckouts(run, host.url)
      return { 'presses in one checkout': atOnce, 'of one number': numbers, 'in many': many }
    } finally {
      await host.close()
    }
  },
}

const numbersOf = ({ random }: AttackRun, count: number) =>
  Array.from({ length: count }, () => cardNumber(`42${random.digits(13)}`))

/** Tries of one checkout that reach the acquirer are few, however many come at once; then it is closed. */
async function inOneCheckout(run: AttackRun, url: string): Promise<number> {
  const { ground, find, profile } = run
  const id = await openCheckout(url, ground.tokens[0]!, own.channel)
  const count = profile === 'full' ? 400 : 60
  const requests = numbersOf(run, count).map((number) =>
    press(id, { ...cardOf(number), ...declined }),
  )
  const answers = await askAll(url, requests, 16)
  for (const answer of answers) {
    const { state = '' } = pressed(answer)
    const isTold = ['declined', 'busy', 'closed'].includes(state)
    if (answer.status !== 200 || !isTold) find('a press is answered otherwise', answer.body)
    if (/\d{3}\.\d{3}\.\d{3}/.test(answer.body)) find('a press is told a code', answer.body)
  }
  // One after another, until it is closed for good: nothing of these presses is sent any more.
  for (const number of numbersOf(run, 2 * tries)) {
    await ask(url, press(id, { ...cardOf(number), ...declined }))
  }
  const made = await paymentsOf(ground, id)
  if (made.length !== tries) find('a checkout does not take its tries', `${made.length} payments`)
  const right = await ask(url, press(id, cardOf()))
  if (pressed(right).state !== 'closed') find('a checkout pays after its tries', right.body)
  if ((await stateOf(url, id)) !== 'closed') find('a checkout stays open after its tries', id)
  return count + 2 * tries + 1
}

/** One number declined in several checkouts is refused in the next ones as any decline, even if it is right. */
async function overNumber(run: AttackRun, url: string): Promise<number> {
  const { ground, find } = run
  const [number = ''] = numbersOf(run, 1)
  let sent = 0
  const replies: string[] = []
  for (let no = 0; no < byNumber + 3; no += 1) {
    const id = await openCheckout(url, ground.tokens[1]!, own.channel)
    const answer = await ask(url, press(id, { ...cardOf(number, String(100 + no)), ...declined }))
    sent += (await paymentsOf(ground, id)).length
    replies.push(answer.body)
  }
  if (sent !== byNumber) find('one number was tried too often', `${sent} of ${byNumber}`)
  if (new Set(replies).size !== 1) find('a refusal differs from a decline', replies.join('\n'))
  return replies.length
}

/** Many checkouts of one shopper's address count together. */
async function overCheckouts(run: AttackRun, url: string): Promise<number> {
  const { ground, find, profile } = run
  const count = profile === 'full' ? 100 : 2 * byAddress
  const ids: string[] = []
  for (let no = 0; no < count; no += 1) {
    ids.push(await openCheckout(url, ground.tokens[0]!, own.channel))
  }
  const numbers = numbersOf(run, count)
  let sent = 0
  for (const [at, id] of ids.entries()) {
    const entry = { ...cardOf(numbers[at]), ...declined }
    const answer = await ask(url, press(id, entry, 'payment', from(`93.184.216.${at % 200}`)))
    if (pressed(answer).state !== 'declined') find('a refusal differs from a decline', answer.body)
    sent += (await paymentsOf(ground, id)).length
  }
  if (sent > byAddress) find('one address tried too many cards', `${sent} of ${byAddress}`)
  if (sent === 0) find('the attack did not reach its target', `${count} presses`)
  const entry = cardOf(numbersOf(run, 1)[0])
  const right = await ask(url, press(ids[0]!, entry, 'payment', from('93.184.216.35')))
  if (pressed(right).state === 'paid') find('an address that is refused can pay', right.body)
  return count + 1
}
