import { integer, match, type Reason } from '@tollgate/schemas'

/** The data that a rule matches. */
export type Sign =
  | 'holder'
  | 'number'
  | 'iban'
  | 'account'
  | 'brand'
  | 'cvv'
  | 'postcode'
  | 'amount'
  | 'parameter'
  | 'challengeCode'
  | 'check'

/** The outcome of a payment. */
export type Decision =
  | { readonly is: 'approved' }
  | { readonly is: 'declined'; readonly reason: Reason }
  /** Declined with the code in the holder's name. */
  | { readonly is: 'declinedAsNamed' }
  /** Open until it is ended by hand. `AsNamed`: with the code in the holder's name. */
  | { readonly is: 'pendingAsNamed' }
  | { readonly is: 'pending'; readonly seconds: number; readonly ends: 'approved' | Reason }
  /** The shopper must visit the bank's page. */
  | { readonly is: 'redirect' }
  /** Declined unless the shopper was authenticated, else approved. */
  | { readonly is: 'stepUp'; readonly reason: Reason }
  /** Nothing reached the acquirer. */
  | { readonly is: 'notSent' }
  /** Done, but the answer is lost. */
  | { readonly is: 'answerLost' }

/**
 * One rule changes one or more of these; each is decided separately, by the first rule in the order
 * of `precedence` that sets it. So a card with a later chargeback is still declined by an amount
 * rule, and an AVS answer accompanies approvals and declines alike.
 */
export type Effect = {
  readonly decision?: Decision
  readonly delivery?: 'twice' | 'eventFirst'
  readonly avs?: 'A' | 'Z' | 'N' | 'U' | 'F'
  readonly cvv?: 'N' | 'U' | 'P' | 'S' | 'M'
  /** 3-D Secure: the final status of the directory or the challenge, and the way to it. */
  readonly authentication?: {
    readonly enrolled?: boolean
    readonly status?: 'Y' | 'A' | 'N' | 'R' | 'U'
    readonly eci?: { readonly VISA: string; readonly MASTER: string }
    readonly flow?: 'frictionless' | 'challenge'
    readonly deviceStep?: boolean
    readonly ends?: Reason
  }
  /** Events on the merchant's business time. */
  readonly later?: readonly {
    readonly event: 'chargeback' | 'chargebackReversal'
    readonly days: number
    readonly after: 'booking' | 'settlement' | 'chargeback'
    readonly reason?: Reason
  }[]
  /** The error in the line of the settlement file. */
  readonly settlement?:
    | 'amountMinusOne'
    | 'noLine'
    | 'twoLines'
    | 'otherCurrency'
    | 'failed'
    | 'noReference'
  /** The engine refuses the payment with this code before any connector is called. */
  readonly refusedBefore?: Reason
  /** Milliseconds of the answer's delay, taken from the value. */
  readonly delaysAnswer?: true
  /** The operation is declined with the code that is the value. */
  readonly declinesAsNamed?: true
  /** Seconds after which an unanswered challenge ends, taken from the value. */
  readonly limitsChallenge?: true
}

/**
 * `is` holds exact values; for `holder` result codes or their groups, for `account` beginnings, for
 * `amount` the two decimals. `otherwise` stands for every value without a row of its own.
 */
export type Rule = readonly [
  sign: Sign,
  is: readonly string[] | 'otherwise',
  effect: Effect,
  meaning: string,
]

/**
 * Earlier signs win. Instruments other than cards have one sign each, at the card number's place.
 */
export const precedence = [
  'holder',
  'number',
  'iban',
  'account',
  'brand',
  'cvv',
  'postcode',
  'amount',
] as const satisfies readonly Sign[]

const approve: Effect = { decision: { is: 'approved' } }
const decline = (reason: Reason): Effect => ({ decision: { is: 'declined', reason } })
const secure = (authentication: NonNullable<Effect['authentication']>): Effect => ({
  authentication,
})

/** The time of a pending payment, in seconds. */
export const pendingSeconds = 30
/** Custom parameters that the simulator reads. */
export const simulatorParameters = {
  SIM_DELAY_MS: integer(0, 999_999_999),
  // Codes of successes and of pending payments decline nothing.
  SIM_DECLINE: match(
    '(?!000|100\\.400\\.500|800\\.400\\.50)[0-9]{3}\\.[0-9]{3}\\.[0-9]{3}',
    '800.100.152',
    11,
    11,
  ),
} as const

export type SimulatorParameter = keyof typeof simulatorParameters

/** `SIM_DELAY_MS` never delays an answer for longer. */
export const longestDelayMs = 60_000

/** The eci of a status, by scheme. Other schemes use those of Visa; other statuses have none. */
export const indicators = {
  Y: { VISA: '05', MASTER: '02' },
  A: { VISA: '06', MASTER: '01' },
} as const

/** The simulator's deliberate behaviour. Any other Luhn-valid number is approved, not enrolled. */
// biome-ignore format: a table reads best with one row on one line.
export const rules: readonly Rule[] = [
  // Cards that are approved like any other; named because test data need some.
  ['number', ['4200000000000000', '4711100000000000', '4111111111111111'], {}, 'VISA'],
  ['number', ['5454545454545454', '5555555555554444', '2223003122003222'], {}, 'MASTER'],
  ['number', ['377777777777770', '378282246310005'], {}, 'AMEX'],
  ['number', ['36227206271667', '30569309025904'], {}, 'DINERS'],
  ['number', ['6011111111111117'], {}, 'DISCOVER'],
  ['number', ['3530111333300000'], {}, 'JCB'],
  ['number', ['6200000000000005', '6205500000000000004'], {}, 'UNIONPAY'],
  ['number', ['6759649826438453'], {}, 'MAESTRO'],

  // The holder's name is a code of the result table that does not begin with 000.
  ['holder', ['pending-long'], { decision: { is: 'pendingAsNamed' } }, 'stays pending with that code'],
  ['holder', ['900.100.600'], { decision: { is: 'notSent' } }, 'the acquirer is unavailable; not charged, safe to repeat'],
  ['holder', 'otherwise', { decision: { is: 'declinedAsNamed' } }, 'nothing is charged, not even with codes for communication errors'],

  // Declines of the issuer and failures of the line.
  ['number', ['4000000000000002'], decline('800.100.152'), 'declined by the issuer'],
  ['number', ['4000000000009995'], decline('800.100.155'), 'amount exceeds credit'],
  ['number', ['4000000000009987'], decline('800.100.165'), 'lost card'],
  ['number', ['4000000000009979'], decline('800.100.159'), 'stolen card'],
  ['number', ['4000000000000069'], decline('800.100.157'), 'wrong expiry date'],
  ['number', ['4000000000000127'], decline('800.100.153'), 'invalid CVV'],
  ['number', ['4000000000006975'], decline('800.100.162'), 'limit exceeded'],
  ['number', ['4000000000000119'], { decision: { is: 'notSent' } }, 'the request never reaches the acquirer; not charged'],
  ['number', ['4100000000000019'], decline('800.300.401'), 'blacklisted card'],
  ['number', ['4000002500003155'], { decision: { is: 'stepUp', reason: '300.100.100' }, authentication: { enrolled: true, flow: 'challenge' } }, 'soft decline without 3-D Secure, approved after the step-up'],
  ['number', ['4000000000000341'], { decision: { is: 'answerLost' } }, 'charged, but the response is lost; only an enquiry finds the payment'],
  ['number', ['4000000000000077'], { decision: { is: 'pending', seconds: pendingSeconds, ends: 'approved' } }, 'pending for 30 seconds, then approved'],

  // The two decimals of the amount.
  ['amount', ['87'], { decision: { is: 'pending', seconds: pendingSeconds, ends: '800.100.152' } }, 'pending for 30 seconds, then declined'],
  ['amount', ['88'], { delivery: 'twice' }, 'an event repeats the response'],
  ['amount', ['89'], { delivery: 'eventFirst' }, 'the event arrives before the response'],

  // Found by the engine before any connector is called.
  ['check', ['expiry in the past'], { refusedBefore: '100.100.303' }, 'the card is expired'],
  ['check', ['card number with a wrong check digit'], { refusedBefore: '100.100.101' }, 'not a card number'],
  ['check', ['IBAN with a wrong check sum'], { refusedBefore: '100.100.101' }, 'not an IBAN'],

  // Bank, virtual and token accounts. The number of a token account follows the card rows.
  ['iban', ['DE89370400440532013000'], approve, 'approved'],
  ['iban', ['DE62370400440532013001'], decline('800.100.203'), 'not enough money in the account'],
  ['iban', ['DE35370400440532013002'], { decision: { is: 'approved' }, later: [{ event: 'chargeback', days: 2, after: 'booking', reason: '000.100.203' }] }, 'approved, charged back two days later'],
  ['account', ['decline-'], decline('800.100.195'), 'unknown user account'],
  ['brand', ['PAYPAL', 'IDEAL', 'SOFORTUEBERWEISUNG'], { decision: { is: 'redirect' } }, 'the shopper is sent to the bank'],

  // Answers of the address and CVV checks. They change the decision only where the channel's
  // settings do.
  ['postcode', ['11111'], { avs: 'A' }, 'address matches, postcode does not'],
  ['postcode', ['22222'], { avs: 'Z' }, 'postcode matches, address does not'],
  ['postcode', ['33333'], { avs: 'N' }, 'neither matches'],
  ['postcode', ['44444'], { avs: 'U' }, 'could not be checked'],
  ['postcode', 'otherwise', { avs: 'F' }, 'both match'],
  ['cvv', ['200'], { cvv: 'N' }, 'does not match'],
  ['cvv', ['201'], { cvv: 'U' }, 'issuer cannot check it'],
  ['cvv', ['301'], { cvv: 'P' }, 'was not processed'],
  ['cvv', ['302'], { cvv: 'S' }, 'is on the card but was not sent'],
  ['cvv', 'otherwise', { cvv: 'M' }, 'matches'],
  ['parameter', ['SIM_DELAY_MS'], { delaysAnswer: true }, 'delays the response by this number of milliseconds, at most a minute'],
  ['parameter', ['SIM_DECLINE'], { declinesAsNamed: true }, 'also a capture, a refund or a reversal is declined with this code'],

  // 3-D Secure 2: answered by the authentication, not by the acquirer.
  ['number', ['4200000000000091', '4200000000000026', '5200000000000007', '5200000000000056'], secure({ enrolled: true, flow: 'frictionless', status: 'Y', eci: indicators.Y }), 'frictionless, authenticated'],
  ['number', ['4200000000000109', '4200000000000059', '5200000000000023', '5200000000000106'], secure({ enrolled: true, flow: 'frictionless', status: 'A', eci: indicators.A }), 'attempted'],
  ['number', ['4012001037461114'], secure({ enrolled: true, flow: 'frictionless', status: 'U', ends: '100.390.112' }), 'unavailable, no eci'],
  ['number', ['4012001037141112'], secure({ enrolled: true, flow: 'frictionless', status: 'N', ends: '100.380.401' }), 'refused'],
  ['number', ['4532497088771651'], secure({ enrolled: false }), 'not participating'],
  ['number', ['4200000000000042', '4200000000000067'], secure({ enrolled: true, flow: 'challenge', deviceStep: true }), 'challenge with a device step'],
  ['number', ['4200000000000018', '4200000000000075'], secure({ enrolled: true, flow: 'challenge', deviceStep: false }), 'challenge without a device step'],
  ['number', ['4000008400001629'], { decision: { is: 'declined', reason: '800.100.152' }, authentication: { enrolled: true, flow: 'challenge' } }, 'challenge, then declined by the issuer'],
  ['number', ['4000008260003178'], { decision: { is: 'declined', reason: '800.100.155' }, authentication: { enrolled: true, flow: 'challenge' } }, 'challenge, then amount exceeds credit'],
  ['parameter', ['3DS2_enrolled=true'], secure({ enrolled: true }), 'any card takes part'],
  ['parameter', ['3DS2_flow=challenge'], secure({ enrolled: true, flow: 'challenge' }), 'any card, with a challenge'],
  ['parameter', ['3DS2_flow=frictionless'], secure({ enrolled: true, flow: 'frictionless' }), 'any card, without a challenge'],
  ['parameter', ['threeDSecure.challengeIndicator=04'], secure({ flow: 'challenge' }), 'a challenge is mandated'],
  ['parameter', ['SIM_TIMEOUT'], { limitsChallenge: true }, 'seconds until an unanswered challenge ends'],
  ['challengeCode', ['1234'], secure({ status: 'Y' }), 'authenticated'],
  ['challengeCode', ['2222'], secure({ status: 'A' }), 'attempted'],
  ['challengeCode', ['3333'], secure({ status: 'N', ends: '100.380.401' }), 'refused'],
  ['challengeCode', ['4444'], secure({ status: 'R', ends: '100.380.401' }), 'rejected'],
  ['challengeCode', ['5555'], secure({ status: 'U', ends: '100.390.112' }), 'unavailable; ends it unless the channel lets it go on'],
  ['challengeCode', ['cancel'], secure({ ends: '100.396.101' }), 'the shopper cancelled'],
  ['challengeCode', ['none in time'], secure({ ends: '100.380.501' }), 'ran out of time'],
  ['challengeCode', ['three wrong codes'], secure({ status: 'N', ends: '100.380.401' }), 'refused'],

  // Later events.
  ['number', ['4000000000000259'], { later: [{ event: 'chargeback', days: 2, after: 'settlement', reason: '000.100.220' }] }, 'charged back two days after settlement'],
  ['number', ['4000000000002685'], { later: [{ event: 'chargeback', days: 2, after: 'settlement', reason: '000.100.221' }, { event: 'chargebackReversal', days: 3, after: 'chargeback' }] }, 'charged back, reversed three days later'],

  // Lines of settlement files.
  ['number', ['4000000000005423'], { settlement: 'amountMinusOne' }, 'line amount is one unit too low'],
  ['amount', ['91'], { settlement: 'noLine' }, 'no line'],
  ['amount', ['92'], { settlement: 'twoLines' }, 'two lines'],
  ['amount', ['93'], { settlement: 'otherCurrency' }, 'line in another currency, with a rate'],
  ['amount', ['94'], { settlement: 'failed' }, 'line says FAILED'],
  ['amount', ['95'], { settlement: 'noReference' }, 'line without any id'],
]
