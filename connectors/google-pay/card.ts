/** The card in the plain text of a token. */
import { type OpenedToken, Sensitive, strictJson } from '@tollgate/plugin-kit'
import { timeOf } from './root-keys.ts'

type Members = Readonly<Record<string, unknown>>

/** A plain text: what a token says, and for whom it says it. */
export type Content = {
  readonly card: OpenedToken
  readonly gatewayMerchantId: unknown
}

/** Undefined: nothing that could be paid with. Members that are not needed are ignored. */
export function contentOf(plain: string): Content | undefined {
  const read = strictJson(
    plain,
    ['messageExpiration', 'messageId', 'paymentMethod', 'paymentMethodDetails'],
    [],
    { others: true },
  )
  const untilMs = timeOf(read?.messageExpiration)
  const details = read?.paymentMethodDetails
  if (read === undefined || untilMs === undefined || typeof details !== 'object') return undefined
  if (typeof read.messageId !== 'string' || read.messageId === '' || details === null) {
    return undefined
  }
  const replay = { replayId: read.messageId, replayUntil: new Date(untilMs) }
  const card = cardOf(read.paymentMethod, details as Members, replay)
  return card === undefined ? undefined : { card, gatewayMerchantId: read.gatewayMerchantId }
}

function cardOf(
  method: unknown,
  details: Members,
  replay: Pick<OpenedToken, 'replayId' | 'replayUntil'>,
): OpenedToken | undefined {
  // ECv1 has names of its own for a device number.
  const isOld = method === 'TOKENIZED_CARD'
  if (!isOld && method !== 'CARD') return undefined
  const number = isOld ? details.dpan : details.pan
  const month = Number(details.expirationMonth)
  const year = String(details.expirationYear)
  const isDate = Number.isInteger(month) && month >= 1 && month <= 12 && /^20[0-9]{2}$/.test(year)
  if (typeof number !== 'string' || !/^[0-9]{12,19}$/.test(number) || !isDate) return undefined
  const card = {
    is: 'opened',
    number: new Sensitive(number),
    expiryMonth: String(month).padStart(2, '0'),
    expiryYear: year,
    ...replay,
  } as const
  const auth = isOld ? details.authMethod : (details.authMethod ?? 'PAN_ONLY')
  if (!isOld && auth === 'PAN_ONLY') return { ...card, numberType: 'PAN', authMethod: 'PAN_ONLY' }
  if (auth !== (isOld ? '3DS' : 'CRYPTOGRAM_3DS')) return undefined
  const cryptogram = isOld ? details['3dsCryptogram'] : details.cryptogram
  if (typeof cryptogram !== 'string' || cryptogram === '') return undefined
  const eci = eciOf(isOld ? details['3dsEciIndicator'] : details.eciIndicator)
  return {
    ...card,
    numberType: 'DPAN',
    cryptogram: new Sensitive(cryptogram),
    ...(eci === undefined ? {} : { eci }),
    authMethod: 'CRYPTOGRAM_3DS',
  }
}

/** Some networks give none. */
function eciOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^0?[0-9]$/.test(value) ? value.padStart(2, '0') : undefined
}
