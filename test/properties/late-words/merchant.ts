/** Plays one sequence, and records its merchant's answers. */
import type { Claim, Kind } from '@tollgate/plugin-kit'
import { GatewayError, type PaymentView } from '../../../core/index.ts'
import { card } from '../../rig/gateway.ts'
import { reversalOf, truth } from './acquirer.ts'
import { arrive, type Dispute, type Entry, isAsAsked, isSale, stands } from './books.ts'
import type { Command, Delivery, Sequence, Way } from './command.ts'
import { approving, type Fate } from './fate.ts'
import { live } from './processes.ts'
import { followUpFields, part, pick, plainWay, same, takes } from './request.ts'
import { Shopper } from './shopper.ts'
import { takeTurn } from './turn.ts'
import { type Message, messageOf, type Place, type World } from './world.ts'

/** An answer to the merchant. */
export type Answer = {
  readonly reference: string
  readonly type: string
  readonly id: string
  readonly code: string
  readonly isRetrySafe: boolean
}

/** Events that a valid run must include. */
export const happenings = [
  'success',
  'open',
  'declined',
  'refused',
  'died',
  'message',
  'chargeback',
] as const
/** Further ones of a run with shoppers. */
export const shopperHappenings = ['paid', 'away', 'came back'] as const
export type Happening =
  | (typeof happenings)[number]
  | (typeof shopperHappenings)[number]
  | 'sent again'
  | 'end of a reversal'

/** A request, for a repeat under its key or a follow-up. */
export type Asked = {
  readonly reference: string
  readonly type: string
  readonly minor: bigint
  readonly keyed: boolean
  send(way: Way): Promise<unknown>
  id: string | undefined
}

export const whole = 9200n

export class Merchant {
  readonly name: string
  readonly sequence: Sequence
  readonly world: World
  readonly place: Place
  readonly answers: Answer[] = []
  /** The number of each happening. */
  readonly tally = new Map<Happening, number>()
  /** Faults independent of the books. */
  readonly faults: string[] = []
  readonly messages: Message[] = []
  readonly delivered: Message[] = []
  readonly disputes: Dispute[] = []
  /** The ids of the merchant's payments. */
  readonly begun: string[] = []
  readonly shopper: Shopper
  readonly #asked: Asked[] = []
  /** Keys of which a word was said after their request arrived. */
  readonly #told = new Set<string>()
  readonly #unavailable: string[] = []
  readonly #sends = new Map<string, number>()
  #numbers = 0
  #next = 0

  constructor(world: World, name: string, sequence: Sequence) {
    this.world = world
    this.name = name
    this.sequence = sequence
    this.place = world.place(sequence)
    this.shopper = new Shopper(this, (asked) => void this.#asked.push(asked))
  }

  /** Continues until the next night. @returns false when the sequence is over. */
  async day(): Promise<boolean> {
    for (;;) {
      const command = this.sequence.commands[this.#next]
      if (command === undefined) return false
      this.#next += 1
      if (command.do === 'night') return true
      await this.#act(command)
    }
  }

  /**
   * Requests whose only attempt was answered 503; after a repeat the answer describes only one
   * attempt.
   */
  get sendAgain(): readonly string[] {
    return this.#unavailable.filter((reference) => this.#sends.get(reference) === 1)
  }

  /** Delivers all pending messages of the acquirer. */
  async deliverAll(): Promise<void> {
    for (const message of this.messages.splice(0)) await this.#post(message)
    this.#tellArrived()
    for (const message of this.messages.splice(0)) await this.#post(message)
  }

  async #act(command: Command): Promise<void> {
    const { books, line, run } = this.world
    this.#tellArrived()
    switch (command.do) {
      case 'pay':
        return this.#pay(command)
      case 'follow':
        return this.#follow(command)
      case 'repeat': {
        const keyed = this.#asked.filter((asked) => asked.keyed)
        const asked = pick(keyed, command.request)
        return void (await asked?.send({ ...plainWay, engine: command.engine, keyed: true }))
      }
      case 'turn': {
        const entry = pick(books.of(this.name), command.on)
        if (entry === undefined) return
        takeTurn(entry, command.turn, command.amount)
        return this.#say(this.#wordOf(entry), command.delivery, command.crash)
      }
      case 'charge back':
        return this.#chargeBack(command)
      case 'reverse chargeback': {
        const dispute = pick(
          this.disputes.filter(({ reversal }) => reversal === undefined),
          command.on,
        )
        if (dispute !== undefined) await this.#say(this.#reversalOf(dispute), command.delivery)
        return
      }
      case 'deliver': {
        const message = pick(this.messages, command.message)
        if (message === undefined) return
        this.messages.splice(this.messages.indexOf(message), 1)
        return this.#post(message)
      }
      case 'enquire': {
        const id = pick(this.#asked, command.on)?.id
        if (id === undefined) return
        return void (await this.#request(
          'enquiry',
          'CR',
          { ...plainWay, crash: command.crash },
          (gateway) => gateway.payments.followUp(id, { paymentType: 'CR' }),
        ))
      }
      case 'decide':
        return this.#decide(pick(this.#asked, command.on)?.id)
      case 'arrive': {
        const coming = books.of(this.name).filter(({ state }) => state === 'coming')
        const entry = pick(coming, command.on)
        if (entry !== undefined) arrive(entry)
        return
      }
      case 'outage': {
        line?.down()
        const way = { ...plainWay, engine: command.engine }
        await this.#pay({ do: 'pay', type: 'DB', fate: approving, second: approving, way })
        return line?.up()
      }
      case 'check out':
      case 'press':
      case 'come back':
      case 'close checkout':
        return this.shopper.act(command)
      case 'lose commit': {
        const statements = run.gateway.statements().filter(({ text }) => text.includes(command.of))
        const statement = pick(statements, this.#numbers)
        if (statement !== undefined) void line?.cut(statement.name, command.when)
        return
      }
    }
  }

  async #pay({ type, fate, second, way }: Extract<Command, { do: 'pay' }>): Promise<void> {
    const isTwoSteps = type === 'PA.CP'
    const reference = this.tell({
      ...same(fate),
      ...(isTwoSteps ? { capture: second, reverse: approving } : {}),
    })
    const fields = {
      ...card('4200000000000000'),
      testMode: 'EXTERNAL',
      entityId: this.place.channel,
      merchantTransactionId: reference,
      paymentType: type,
    }
    const asked: Asked = {
      reference,
      type,
      minor: whole,
      keyed: way.keyed,
      id: undefined,
      send: (how) =>
        this.#request(reference, type, how, (gateway, options) =>
          gateway.payments.create(fields as never, options),
        ),
    }
    await this.#ask(asked, way)
  }

  async #follow(command: Extract<Command, { do: 'follow' }>): Promise<void> {
    const { type, share, fate, way } = command
    const fitting = this.#asked.filter((one) => one.id !== undefined && takes(type, one.type))
    const on = pick(fitting, command.on)
    if (on?.id === undefined) return
    const { id } = on
    const reference = this.tell(same(fate))
    const minor = part(on.minor, share)
    const fields = { ...followUpFields(command, on.type, minor), merchantTransactionId: reference }
    const asked: Asked = {
      reference,
      type,
      minor,
      keyed: way.keyed,
      id: undefined,
      send: (how) =>
        this.#request(reference, type, how, (gateway, options) =>
          gateway.payments.followUp(id, fields as never, options),
        ),
    }
    await this.#ask(asked, way)
  }

  async #ask(asked: Asked, way: Way): Promise<void> {
    this.#asked.push(asked)
    const known = this.begun.length
    if (way.twice) {
      const other = way.engine === 0 ? 1 : 0
      await Promise.all([asked.send(way), asked.send({ ...way, engine: other, crash: undefined })])
    } else await asked.send(way)
    const answered = this.answers.findLast(({ reference }) => reference === asked.reference)
    // The merchant finds the id of an interrupted payment in its reports.
    asked.id = answered?.id ?? this.begun[known]
  }

  async #request(
    reference: string,
    type: string,
    way: Way,
    send: (
      gateway: World['engines'][number],
      options: { idempotencyKey?: string },
    ) => Promise<PaymentView>,
  ): Promise<void> {
    const gateway = this.world.engines[way.engine]
    this.#sends.set(reference, (this.#sends.get(reference) ?? 0) + 1)
    const options = way.keyed ? { idempotencyKey: reference } : {}
    try {
      const lived = await live(way.crash, this.begun, () => send(gateway, options))
      if (lived.died) return this.count('died')
      const { id, result, retrySafe } = lived.value
      const { code } = result
      this.count(/^000\.200/.test(code) ? 'open' : /^000\./.test(code) ? 'success' : 'declined')
      this.answers.push({ reference, type, id, code: result.code, isRetrySafe: retrySafe === true })
      if (!this.begun.includes(id)) this.begun.push(id)
    } catch (error) {
      if (!(error instanceof GatewayError) && this.world.line !== undefined) {
        // Without a database a client can get no answer at all, which promises nothing.
        this.count('died')
      } else if (!(error instanceof GatewayError)) {
        const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
        this.faults.push(`${type} failed through a fault of the gateway: ${text}`)
      } else if (error.status === 503) {
        this.count('sent again')
        this.#unavailable.push(reference)
      } else if (error.status >= 500 || error.code === '200.300.404')
        this.faults.push(`${type} was answered ${error.status} ${error.code}`)
      else this.count('refused')
    }
  }

  async #chargeBack(command: Extract<Command, { do: 'charge back' }>): Promise<void> {
    const sale = pick(this.world.books.of(this.name).filter(isSale), command.on)
    if (sale === undefined) return
    const eventId = this.#number('chargeback')
    const dispute: Dispute = {
      reference: command.named ? `dispute-${eventId}` : eventId,
      sequence: this.name,
      key: sale.key,
      amount: { ...sale.asked, minor: part(sale.asked.minor, command.share) },
      eventId,
      reversal: undefined,
    }
    this.disputes.push(dispute)
    this.count('chargeback')
    this.world.books.disputes.push(dispute)
    const message = this.#disputeWord(dispute, 'chargeback', eventId, command.named)
    const reversal = command.reversed === 'no' ? undefined : this.#reversalOf(dispute)
    if (command.reversed === 'first') await this.#say(reversal!, command.delivery)
    await this.#say(message, command.delivery, command.crash)
    if (command.reversed === 'after') await this.#say(reversal!, 'now')
  }

  #reversalOf(dispute: Dispute): Message {
    const eventId = this.#number('reversal')
    dispute.reversal = { eventId }
    return this.#disputeWord(
      dispute,
      'chargebackReversal',
      eventId,
      dispute.reference !== dispute.eventId,
    )
  }

  #disputeWord(
    dispute: Dispute,
    is: 'chargeback' | 'chargebackReversal',
    eventId: string,
    named: boolean,
  ): Message {
    return messageOf(this.place, this.name, {
      eventId,
      key: dispute.key,
      amount: dispute.amount,
      outcome: { is, reason: '000.100.203', refs: { case: dispute.reference } },
      ...(named ? { reference: dispute.reference } : {}),
    } as Claim & { reference?: string })
  }

  /** An operator decides by the acquirer's own tools. */
  async #decide(id: string | undefined): Promise<void> {
    if (id === undefined) return
    const words = { by: 'operator', reason: "the acquirer's own tools show it" }
    const { operator } = this.world.run.gateway
    try {
      await operator.enquire(id, words)
      const [row] = await this.world.run.sql<{ key: string }>(
        'select attempt_key as key from tollgate.payment where id = $1 or chain_id = $1 order by id = $1 desc',
        [id],
      )
      const entry = row === undefined ? undefined : this.world.books.find(row.key)
      // No decision can express an operation of another amount.
      if (entry !== undefined && stands(entry) && !isAsAsked(entry)) return
      await operator.settle(
        id,
        entry !== undefined && stands(entry) ? 'approved' : 'declined',
        words,
      )
    } catch (error) {
      // Without a database an operator decides nothing.
      if (!(error instanceof GatewayError) && this.world.line === undefined) throw error
    }
  }

  /** The acquirer reports delayed requests by a message. */
  #tellArrived(): void {
    for (const entry of this.world.books.of(this.name)) {
      if (entry.fate.becomes !== 'coming' || entry.fate.answer === 'late') continue
      if (!stands(entry)) continue
      if (this.#told.has(entry.key)) continue
      this.messages.push(this.#wordOf(entry))
    }
  }

  #wordOf(entry: Entry): Message {
    if (entry.state !== 'coming') this.#told.add(entry.key)
    const word = reversalOf(entry) ?? truth(entry)
    if (word.is === 'reversed' || word.is === 'notReversed') this.count('end of a reversal')
    const outcome = word.is === 'approved' ? { is: word.is, refs: word.refs } : word
    return messageOf(this.place, this.name, {
      eventId: this.#number('word'),
      key: entry.key,
      amount: entry.moved,
      outcome,
    })
  }

  async #say(message: Message, delivery: Delivery, crash?: Way['crash']): Promise<void> {
    const unproven = { ...message, inbound: { ...message.inbound, headers: {} } }
    switch (delivery) {
      case 'later':
        return void this.messages.push(message)
      case 'unproven':
        await this.#post(unproven, crash)
        // The acquirer repeats its message later.
        return void this.messages.push(message.isWord ? this.#renamed(message) : message)
      case 'after a forgery of its id':
        await this.#post(unproven)
        return this.#post(message, crash)
      case 'twice':
        await this.#post(message, crash)
        return this.#post(message)
      case 'under another id too':
        await this.#post(message, crash)
        // A dispute without a reference under another event id is another dispute.
        if (!message.isRepeatable) return
        return this.#post(this.#renamed(message))
      case 'now':
        return this.#post(message, crash)
    }
  }

  /** The same message under another event id. */
  #renamed(message: Message): Message {
    const eventId = this.#number('again')
    const [claim] = JSON.parse(message.inbound.body.toString()) as [object]
    const body = Buffer.from(JSON.stringify([{ ...claim, eventId }]))
    return { ...message, eventId, inbound: { ...message.inbound, body } }
  }

  async #post(message: Message, crash?: Way['crash']): Promise<void> {
    this.count('message')
    if (Object.keys(message.inbound.headers).length > 0) this.delivered.push(message)
    try {
      const lived = await live(crash, this.begun, () => this.world.deliver(message))
      // An acquirer repeats a message whose storage was not confirmed.
      if (lived.died) await this.world.deliver(message)
    } catch (error) {
      const isDown =
        error instanceof GatewayError ? error.status === 503 : this.world.line !== undefined
      if (isDown) this.messages.push(message)
      else this.faults.push(`a message failed: ${error instanceof Error ? error.message : error}`)
    }
  }

  tell(fates: Partial<Record<Kind, Fate>>): string {
    this.#numbers += 1
    const reference = `${this.name}.${this.#numbers}`
    this.world.books.tell(reference, fates)
    return reference
  }

  count(what: Happening): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1)
  }

  #number(what: string): string {
    this.#numbers += 1
    return `${this.name}-${what}-${this.#numbers}`
  }
}
