/** Sends altered tokens and compares everything that a forger gets back. */
import { randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Wallet, walletKeys } from '@tollgate/plugin-kit'
import type { TokenFlaw } from '@tollgate/plugin-kit/testing'
import { applePay } from '../../../connectors/apple-pay/index.ts'
import { googlePay } from '../../../connectors/google-pay/index.ts'
import { samsungPay } from '../../../connectors/samsung-pay/index.ts'
import { GatewayError } from '../../../core/index.ts'
import { type Field, tokenOf, type WalletRun, walletBrands } from '../../rig/wallets.ts'

const wallets: Readonly<Record<Field, Wallet>> = { applePay, googlePay, samsungPay }

/** Durations in milliseconds. */
export type Spread = {
  readonly count: number
  readonly median: number
  readonly p95: number
  readonly longest: number
}

export type Found = {
  /** Every different answer to a refused token. */
  readonly answers: readonly string[]
  readonly refused: number
  /** Tokens whose alteration means nothing, such as a hex digit in capitals. */
  readonly same: number
  /** Altered tokens that opened as another card: there must be none. */
  readonly opened: number
  /** Of `open`, by class of the refusal. */
  readonly within: ReadonlyMap<string, Spread>
  /** Of whole requests, by class of the refusal. */
  readonly outside: ReadonlyMap<string, Spread>
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_={}":.,'
const flaws: readonly TokenFlaw[] = [
  ...(['cut-tag', 'wrong-tag', 'foreign-root', 'foreign-recipient'] as const),
  ...(['foreign-key', 'old-version', 'no-card'] as const),
]

type Alteration = (token: string, other: string) => string

const at = (token: string) => randomInt(token.length)
const alterations: readonly Alteration[] = [
  (token) => {
    const place = at(token)
    return token.slice(0, place) + alphabet[randomInt(alphabet.length)] + token.slice(place + 1)
  },
  // An empty text is no token, but one that was not sent.
  (token) => token.slice(0, Math.max(1, at(token))),
  (token) => {
    const place = at(token)
    return token.slice(0, place) + token.slice(place + 1 + randomInt(8))
  },
  // A part of another token, of the same length.
  (token, other) => {
    const place = at(token)
    const length = randomInt(1, 200)
    return token.slice(0, place) + other.slice(place, place + length) + token.slice(place + length)
  },
]

/** @param many Tokens of this wallet. */
export async function sendAltered(run: WalletRun, field: Field, many: number): Promise<Found> {
  const sandbox = run.devices[field]
  const answers = new Set<string>()
  const times = { within: new Map<string, number[]>(), outside: new Map<string, number[]>() }
  const counts = { refused: 0, same: 0, opened: 0 }
  const open = openerOf(run, field)
  const one = async (index: number) => {
    const token = index % 10 === 0 ? flawed(run, field, index / 10) : altered(run, field)
    const original = tokens(run, field)
    const startedMs = performance.now()
    const inside = open(token)
    add(times.within, inside.class, performance.now() - startedMs)
    if (inside.is === 'opened') {
      counts[original.some((known) => open(known).id === inside.id) ? 'same' : 'opened'] += 1
      return
    }
    counts.refused += 1
    const sentMs = performance.now()
    answers.add(await answerTo(run, field, token))
    add(times.outside, inside.class, performance.now() - sentMs)
  }
  const flawed = ({ devices }: WalletRun, _: Field, index: number) => {
    const usable = flaws.filter((flaw) => devices[field].without?.[flaw] === undefined)
    return tokenOf(sandbox, {}, usable[index % usable.length])
  }
  let next = 0
  const worker = async () => {
    while (next < many) {
      next += 1
      await one(next - 1)
      await pause(0)
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  const spreads = (of: ReadonlyMap<string, number[]>) =>
    new Map([...of].map(([name, list]) => [name, spreadOf(list)] as const))
  return {
    answers: [...answers],
    ...counts,
    within: spreads(times.within),
    outside: spreads(times.outside),
  }
}

const kept = new WeakMap<WalletRun, Map<Field, string[]>>()

/** Good tokens to alter, made once. */
function tokens(run: WalletRun, field: Field): string[] {
  const ofRun = kept.get(run) ?? new Map<Field, string[]>()
  kept.set(run, ofRun)
  const known = ofRun.get(field)
  if (known !== undefined) return known
  const made = Array.from({ length: 20 }, () => tokenOf(run.devices[field]))
  ofRun.set(field, made)
  return made
}

function altered(run: WalletRun, field: Field): string {
  const all = tokens(run, field)
  const [token, other] = [all[randomInt(all.length)]!, all[randomInt(all.length)]!]
  const respelled = run.devices[field].respelled?.(token) ?? []
  if (randomInt(50) === 0) return respelled[randomInt(respelled.length)]!
  const change = alterations[randomInt(alterations.length)]!
  const result = change(token, other)
  return result === token ? `${token.slice(0, -1)}` : result
}

function openerOf({ devices }: WalletRun, field: Field) {
  const { settings, roots } = devices[field]
  const { config, account } = settings
  const context = {
    config: { signatureAgeSeconds: 300, tokenAgeSeconds: 300, ...config },
    account,
    keys: walletKeys(config, account),
    roots,
    now: () => new Date(),
  }
  return (token: string) => {
    const answer = wallets[field].open(token, context)
    return answer.is === 'opened'
      ? ({ is: 'opened', class: 'opened', id: answer.replayId } as const)
      : ({ is: 'refused', class: answer.class, id: '' } as const)
  }
}

/** Everything of the answer that a client sees. */
async function answerTo(run: WalletRun, field: Field, token: string): Promise<string> {
  const request = {
    entityId: run.channel,
    ...{ amount: '92.00', currency: 'EUR', paymentType: 'DB', testMode: 'EXTERNAL' },
    paymentBrand: walletBrands[field],
    [field]: { paymentToken: token },
  }
  try {
    await run.gateway.payments.create(request as never)
    return 'a payment'
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    const { code, status, message, parameterErrors } = error
    return JSON.stringify({ code, status, message, parameterErrors })
  }
}

function add(lists: Map<string, number[]>, name: string, ms: number): void {
  const list = lists.get(name) ?? []
  lists.set(name, list)
  list.push(ms)
}

function spreadOf(list: readonly number[]): Spread {
  const sorted = list.toSorted((one, other) => one - other)
  const quantile = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!
  return { count: list.length, median: quantile(0.5), p95: quantile(0.95), longest: quantile(1) }
}

/** One line for each class. */
export function printed(title: string, of: ReadonlyMap<string, Spread>): string[] {
  const ms = (value: number) => value.toFixed(2).padStart(8)
  return [...of]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(
      ([name, { count, median, p95, longest }]) =>
        `  ${title.padEnd(8)} ${name.padEnd(16)} ${String(count).padStart(6)}  median ${ms(median)} ms  95 % ${ms(p95)} ms  longest ${ms(longest)} ms`,
    )
}
