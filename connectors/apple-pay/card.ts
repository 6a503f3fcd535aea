/** The card in the plain text of a token. */
import { type OpenedToken, Sensitive, strictJson } from '@tollgate/plugin-kit'

type Members = Readonly<Record<string, unknown>>

/**
 * Undefined: nothing that could be paid with. Data of a chip (`EMV`) is for terminals, and no acquirer of an online payment
 * takes it.
 */
export function cardOf(
  plain: string,
  replay: Pick<OpenedToken, 'replayId' | 'replayUntil'>,
): OpenedToken | undefined {
  const must = [
    'applicationPrimaryAccountNumber',
    'applicationExpirationDate',
    'currencyCode',
    'transactionAmount',
    'paymentData',
  ]
  const read = strictJson(plain, must, [], { others: true })
  if (read === undefined || read.paymentDataType !== '3DSecure') return undefined
  const number = read.applicationPrimaryAccountNumber
  const [, year, month] =
    /^([0-9]{2})(0[1-9]|1[0-2])/.exec(String(read.applicationExpirationDate)) ?? []
  const proof = read.paymentData as Members | null
  const cryptogram = typeof proof === 'object' ? proof?.onlinePaymentCryptogram : undefined
  const amount = amountIn(read)
  if (typeof number !== 'string' || !/^[0-9]{12,19}$/.test(number)) return undefined
  if (year === undefined || month === undefined || amount === undefined) return undefined
  if (typeof cryptogram !== 'string' || cryptogram === '') return undefined
  const eci = eciOf(proof?.eciIndicator)
  return {
    is: 'opened',
    number: new Sensitive(number),
    numberType: 'DPAN',
    expiryMonth: month,
    expiryYear: `20${year}`,
    cryptogram: new Sensitive(cryptogram),
    ...(eci === undefined ? {} : { eci }),
    amount,
    ...replay,
    authMethod: '3DSecure',
  }
}

function amountIn({ currencyCode, transactionAmount }: Members): OpenedToken['amount'] {
  const currency = String(currencyCode)
  const isAmount = Number.isSafeInteger(transactionAmount) && (transactionAmount as number) >= 0
  if (!isAmount || !/^[0-9]{1,3}$/.test(currency)) return undefined
  return { minor: BigInt(transactionAmount as number), currency: currency.padStart(3, '0') }
}

/** Some networks give none, and some give one digit. */
function eciOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^0?[0-9]$/.test(value) ? value.padStart(2, '0') : undefined
}
