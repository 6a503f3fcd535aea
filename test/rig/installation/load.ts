/** Merchants that pay, capture, refund and reverse continuously, on all hosts at once. */
import { EventEmitter, once } from 'node:events'
import { type Address, type Answer, type Client, isApproved, type Wish } from './client.ts'

type Step = {
  readonly type: string
  readonly minor?: number
  readonly on?: 'first'
  /** The acquirer declines it as the request asks. */
  readonly declined?: true
}

/** First payments with follow-ups, each on the previous payment unless it names another. */
const stories: readonly (readonly Step[])[] = [
  [
    { type: 'DB', minor: 9_200 },
    { type: 'RF', minor: 3_000 },
    { type: 'RF', minor: 6_200, on: 'first' },
  ],
  [
    { type: 'PA', minor: 10_000 },
    { type: 'CP', minor: 10_000 },
    { type: 'RF', minor: 10_000 },
  ],
  [
    { type: 'PA', minor: 8_000 },
    { type: 'CP', minor: 3_000 },
    { type: 'CP', minor: 5_000, on: 'first' },
  ],
  [{ type: 'PA', minor: 7_000 }, { type: 'RV' }],
  [
    { type: 'PA', minor: 6_500 },
    { type: 'CP', minor: 6_500, declined: true },
    { type: 'RV', on: 'first', declined: true },
    { type: 'CP', minor: 6_500, on: 'first' },
    { type: 'RF', minor: 6_500, declined: true },
  ],
  [
    { type: 'PA.CP', minor: 6_000 },
    { type: 'RF', minor: 6_000 },
  ],
  [{ type: 'DB', minor: 5_000 }, { type: 'RV' }],
  [{ type: 'PA', minor: 4_000 }, { type: 'CP', minor: 4_000 }, { type: 'RV' }],
]

const declining = { 'customParameters[SIM_DECLINE]': '800.100.152' }

export type Load = {
  /** Resolves after that many more wishes have an outcome. */
  more(answers: number): Promise<void>
  /** Resolves when all begun stories have ended. */
  stop(): Promise<void>
}

const withinMs = 60_000

/** @param merchants number of simultaneous merchants */
export function startLoad(client: Client, hosts: readonly Address[], merchants: number): Load {
  const answered = new EventEmitter().setMaxListeners(0)
  let count = 0
  let stopped = false
  const tell = async (wish: Wish, merchant: number): Promise<Answer> => {
    const answer = await client.insist(wish, merchant % 2 === 0 ? hosts : hosts.toReversed())
    count += 1
    answered.emit('answer')
    return answer
  }
  const shop = async (merchant: number) => {
    for (let round = merchant; !stopped; round += 1) {
      const [first, ...rest] = stories[round % stories.length]!
      const paid = await tell(client.first(first!.type, first!.minor!), merchant)
      let last = paid
      for (const { type, minor, on, declined } of rest) {
        if (on !== 'first' && !isApproved(last.code)) break
        const fields = declined === true ? declining : {}
        const wish = client.followUp(type, on === 'first' ? paid.id : last.id, minor, fields)
        last = await tell(wish, merchant)
      }
    }
  }
  const shops = Promise.all(Array.from({ length: merchants }, (_, merchant) => shop(merchant)))
  // The waiting caller reports a merchant's failure, which must not become an unhandled rejection.
  shops.catch(() => answered.emit('answer'))
  return {
    async more(answers) {
      const wanted = count + answers
      const signal = AbortSignal.timeout(withinMs)
      while (count < wanted) {
        await Promise.race([once(answered, 'answer', { signal }), shops])
      }
    },
    async stop() {
      stopped = true
      await shops
    },
  }
}
