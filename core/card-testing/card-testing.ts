/**
 * Refuses attempts of card testers. Check and counters are in memory and never wait, and a payment
 * writes nothing for them. Once a second, each process writes its failures and approvals and reads
 * those of other processes. During a database outage each process continues alone.
 */
import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Alarm } from '../audit/alarm.ts'
import type { Clock } from '../clock.ts'
import type { Lanes } from '../db/lanes.ts'
import { isOn, isWide, type Thresholds, thresholdsOf } from '../entity/card-testing-settings.ts'
import type { Directory } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import {
  type Attempt,
  type CardWord,
  keysOf,
  type SettledPayment,
  shownOf,
  storedValues,
  type Trial,
  valuesOf,
} from './attempt.ts'
import { failureOf } from './failure.ts'
import { judge } from './judge.ts'
import { type Block, referenceOf, Sharing } from './sharing.ts'
import { type DecidedRow, fingerprintOf } from './store.ts'
import { UnderWay, type Unstored } from './under-way.ts'
import { type Key, Windows } from './windows.ts'

/** A refusal before the attempt writes or sends anything. */
export class TooManyFailures extends GatewayError {}

export class CardTesting {
  readonly #lanes: Lanes
  readonly #clock: Clock
  readonly #directory: Directory
  readonly #alarm: Alarm
  readonly #installation: Thresholds
  readonly #windows = new Windows({
    keys: limits.cardTestingKeys,
    perMerchant: limits.cardTestingKeysPerMerchant,
  })
  readonly #underWay = new UnderWay()
  readonly #sharing: Sharing

  constructor(parts: {
    readonly lanes: Lanes
    readonly clock: Clock
    readonly log: Log
    readonly alarm: Alarm
    readonly directory: Directory
    readonly thresholds: Thresholds
  }) {
    this.#lanes = parts.lanes
    this.#clock = parts.clock
    this.#directory = parts.directory
    this.#alarm = parts.alarm
    this.#installation = parts.thresholds
    this.#sharing = new Sharing({
      lanes: parts.lanes,
      clock: parts.clock,
      log: parts.log,
      windows: this.#windows,
      underWay: this.#underWay,
      decidedElsewhere: (row) => this.#decidedElsewhere(row),
    })
  }

  /**
   * Loads the counts of other processes before the first request. Without any setting, waits for
   * one.
   */
  async start(): Promise<void> {
    if (isOn(this.#installation)) await this.#sharing.start()
  }

  close(): Promise<void> {
    return this.#sharing.close()
  }

  /**
   * Begins an attempt; `end` has to follow. Undefined when nothing is counted.
   *
   * @throws TooManyFailures 429 800.120.100.
   */
  begin(attempt: Attempt, settings: Readonly<Record<string, unknown>>): Trial | undefined {
    const thresholds = thresholdsOf(this.#installation, settings)
    if (!isOn(thresholds)) return undefined
    void this.#sharing.start()
    const keys = keysOf(attempt.merchantId, valuesOf(attempt), thresholds)
    const nowMs = this.#sharing.nowMs()
    for (const key of keys) this.#check(key, thresholds[key.dimension], attempt.number, nowMs)
    for (const key of keys) if (!isWide(key.dimension)) this.#underWay.begin(nameOf(key))
    return { paymentId: attempt.paymentId, keys, number: attempt.fingerprint.toString('base64') }
  }

  #check(key: Key, threshold: number, number: string, nowMs: number): void {
    const name = nameOf(key)
    const counted = this.#windows.count(key, nowMs)
    const pending = { underWay: this.#underWay.sent(name), open: this.#underWay.open(name) }
    const verdict = judge(key.dimension, counted, pending, threshold)
    if (verdict === 'free') return
    if (verdict === 'busy') {
      const room = threshold - counted.own
      const waitMs = this.#underWay.msUntilBelow(name, room, this.#clock.elapsedMs())
      throw tooMany(Math.max(1, Math.ceil(waitMs / 1000)))
    }
    this.#tell({
      merchant: key.merchantId,
      dimension: key.dimension,
      of: shownOf(key, number),
      failures: counted.own + counted.others,
      threshold,
    })
    const waitMs = this.#windows.msUntilBelow(key, threshold, nowMs)
    throw tooMany(Math.max(1, Math.ceil(waitMs / 1000)))
  }

  #tell(block: Block): void {
    this.#sharing.list(block)
    const subject = referenceOf(block.merchant, block.dimension)
    this.#alarm('card-testing', { subject, ...block })
  }

  /** Ends the attempt in this process, with any result. */
  end(trial: Trial | undefined): void {
    for (const key of trial?.keys ?? []) {
      if (!isWide(key.dimension)) this.#underWay.end(nameOf(key))
    }
  }

  /**
   * Counts the outcome of a settled payment. Never waits.
   *
   * @param trial The trial of the sending process, if still known.
   * @param fingerprint The fingerprint of the erased number.
   */
  settled(
    trial: Trial | undefined,
    payment: SettledPayment,
    word: CardWord,
    fingerprint: Buffer | null = null,
  ): void {
    if (word === 'open') {
      this.#hold(trial, payment)
      return
    }
    const unstored = this.#underWay.decided(payment.id)
    if (word === 'nothing') return
    const says = word === 'approved' ? isSale(payment.amount.minor) : isFailure(payment.resultCode)
    if (!says) return
    if (trial === undefined) {
      if (isShoppersCard(payment)) {
        this.#countLater(payment, word, unstored, fingerprint).catch(() => {})
      }
    } else if (word === 'approved') this.#approve(trial.keys, trial.number)
    else this.#fail(trial.keys, payment.resultCode)
  }

  #approve(keys: readonly Key[], number: string): void {
    const wide = keys.filter(({ dimension }) => isWide(dimension))
    this.#windows.approve(wide, number, this.#sharing.nowMs())
  }

  /** A pending payment: until its decision, the number counts as tried. */
  #hold(trial: Trial | undefined, payment: SettledPayment): void {
    if (trial === undefined) return
    const key = trial.keys.find(({ dimension }) => dimension === 'number')
    const stored = storedValues(payment, null)
    const unstored = trial.keys.filter(
      ({ dimension }) => isWide(dimension) && stored[dimension] === undefined,
    )
    this.#underWay.hold(
      trial.paymentId,
      key === undefined ? uncounted : nameOf(key),
      { keys: unstored, number: trial.number },
      this.#clock.elapsedMs(),
    )
  }

  /** The deciding process counted the columns of the row; this process adds its own knowledge. */
  #decidedElsewhere({ id, state, result_code, amount_minor }: DecidedRow): void {
    const isApproved = state === 'approved'
    const unstored = this.#underWay.decidedElsewhere(id, isApproved, this.#clock.elapsedMs())
    if (unstored === undefined) return
    if (!isApproved) this.#fail(unstored.keys, result_code)
    else if (isSale(amount_minor)) this.#approve(unstored.keys, unstored.number)
  }

  #fail(keys: readonly Key[], resultCode: string): void {
    if (!isFailure(resultCode)) return
    const isShoppers = failureOf(resultCode) === 'shopper'
    const nowMs = this.#sharing.nowMs()
    for (const key of keys) {
      if (!isShoppers || !isWide(key.dimension)) this.#windows.fail(key, nowMs)
    }
  }

  /**
   * Counts an attempt of another process or an earlier time, after an event, an enquiry or an
   * operator settled it here.
   *
   * @param unstored This process's knowledge of the attempt beyond the payment's row.
   */
  async #countLater(
    payment: SettledPayment,
    word: 'approved' | 'declined',
    unstored: Unstored | undefined,
    fingerprint: Buffer | null,
  ): Promise<void> {
    const settings = await this.#directory.settings(payment.channelId)
    const thresholds = thresholdsOf(this.#installation, settings)
    if (!isOn(thresholds)) return
    await this.#sharing.start()
    const merchantId = await this.#directory.merchantOf(payment.channelId)
    const stored = keysOf(merchantId, storedValues(payment, fingerprint), thresholds)
    const keys = [...stored, ...(unstored?.keys ?? [])]
    if (word === 'declined') this.#fail(keys, payment.resultCode)
    else if (this.#windows.knows(keys)) {
      const number = unstored?.number ?? (await this.#numberOf(payment))
      if (number !== undefined) this.#approve(keys, number)
    }
  }

  /**
   * The number's hash, as in the payment's trial; undefined after its erasure, and then counts no
   * approval.
   */
  async #numberOf({ id }: SettledPayment): Promise<string | undefined> {
    const [row] = await this.#lanes.read(fingerprintOf(id))
    return row?.fingerprint?.toString('base64')
  }
}

/** Replaces the number where failures per number are not counted. */
const uncounted = ''

/**
 * Sales prove that a shop is not under attack. Free operations do not, since a card tester can make
 * any number of them: checks of a card without an amount, and one good card again and again.
 */
const isSale = (amountMinor: bigint): boolean => amountMinor > 0n

const isFailure = (resultCode: string): boolean => failureOf(resultCode) !== undefined

/** A first payment that a shopper may have made: no follow-up, no charge of a schedule. */
const isShoppersCard = ({ parentId, scheduleId, method }: SettledPayment): boolean =>
  parentId === null && scheduleId === null && (method === 'card' || method === 'tokenAccount')

const nameOf = ({ merchantId, dimension, value }: Key) => `${merchantId} ${dimension} ${value}`

/**
 * The response does not name the exceeded count, since a card tester would vary just that feature.
 */
const tooMany = (retryAfterSeconds: number) =>
  new TooManyFailures('800.120.100', {
    status: 429,
    description:
      'too many requests, try again later: too many payments like this one were declined',
    retryAfterSeconds,
  })
