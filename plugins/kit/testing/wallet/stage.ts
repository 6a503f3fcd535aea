/** One wallet with the parties of its sandbox, as the engine would call it. */
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { Sensitive } from '../../sensitive.ts'
import type { Settings } from '../../settings.ts'
import { type OpenedToken, type RefusedToken, type Wallet, walletKeys } from '../../wallet.ts'
import type { TokenScene, WalletSandbox } from './sandbox.ts'

type Values = Readonly<Record<string, unknown>>

/** Other parties and another time than the sandbox has. */
export type Instead = {
  readonly config?: Values
  readonly account?: Values
  readonly roots?: readonly string[]
  readonly at?: Date
}

/** Far from the clock of this machine, so that a wallet with a clock of its own fails. */
export const sceneTime = new Date(Date.UTC(2031, 4, 6, 7, 8, 9))

export const scenes: Readonly<Record<TokenScene['numberType'], TokenScene>> = {
  DPAN: {
    number: '4895370013341927',
    numberType: 'DPAN',
    expiryMonth: '04',
    expiryYear: '2034',
    cryptogram: 'AgAAAAAABk4DWZ4C28yUQAAAAAA=',
    eci: '05',
    amount: { minor: 9200n, currency: 'EUR' },
    at: sceneTime,
  },
  PAN: {
    number: '5454545454545454',
    numberType: 'PAN',
    expiryMonth: '11',
    expiryYear: '2035',
    amount: { minor: 9200n, currency: 'EUR' },
    at: sceneTime,
  },
}

export class WalletStage {
  readonly wallet: Wallet
  readonly sandbox: WalletSandbox
  /** Everything that the wallet wrote while it was called. */
  readonly written: string[] = []

  constructor(wallet: Wallet, sandbox: WalletSandbox) {
    this.wallet = wallet
    this.sandbox = sandbox
  }

  get types(): readonly TokenScene['numberType'][] {
    return this.sandbox.numberTypes
  }

  /** A scene of the first kind of number that the wallet has. */
  get scene(): TokenScene {
    return scenes[this.types[0]!]
  }

  /** Opens a token; fails when that throws. */
  open(token: string, instead: Instead = {}): OpenedToken | RefusedToken {
    const { settings, roots } = this.sandbox
    const config = instead.config ?? settings.config
    const account = instead.account ?? settings.account
    const context = {
      config: withDefaults(this.wallet.config, config),
      account: withDefaults(this.wallet.account, account),
      keys: walletKeys(config, account),
      roots: instead.roots ?? roots,
      now: () => instead.at ?? sceneTime,
    }
    return this.#listening(() => this.wallet.open(token, context))
  }

  opened(token: string, rule: string, instead?: Instead): OpenedToken {
    const answer = this.open(token, instead)
    assert.equal(answer.is, 'opened', rule)
    return answer as OpenedToken
  }

  refused(token: string, rule: string, instead?: Instead): RefusedToken {
    const answer = this.open(token, instead)
    assert.equal(answer.is, 'refused', rule)
    return answer as RefusedToken
  }

  #listening<T>(work: () => T): T {
    const streams = [process.stdout, process.stderr]
    const before = streams.map((stream) => stream.write)
    for (const stream of streams) {
      stream.write = ((chunk: unknown) => {
        this.written.push(String(chunk))
        return true
      }) as typeof stream.write
    }
    try {
      return work()
    } catch (error) {
      return assert.fail(
        `open threw ${inspect(error, { depth: 0 })}, although it answers every token`,
      )
    } finally {
      for (const [at, stream] of streams.entries()) stream.write = before[at]!
    }
  }
}

/** The settings as the engine gives them: in their types, with their defaults. */
function withDefaults(table: Settings | undefined, given: Values): Values {
  const rows = (table?.fields ?? []).flatMap(({ name, format, options }) => {
    const raw = given[name] ?? options.default
    if (raw === undefined) return []
    const text = String(raw)
    const value =
      format.kind === 'flag' ? text === 'true' : format.kind === 'integer' ? Number(text) : text
    return [[name, value] as const]
  })
  return Object.fromEntries(rows)
}

/** What an answer says, with its secrets, for comparisons. */
export function revealed(answer: OpenedToken): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [
      name,
      Sensitive.is(value) ? value.reveal() : value,
    ]),
  )
}
