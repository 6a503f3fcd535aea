/** Currencies of scenes by the digits of ISO 4217, with which the wallet names them. */
const digits: Readonly<Record<string, string>> = {
  EUR: '978',
  USD: '840',
  GBP: '826',
  JPY: '392',
  KWD: '414',
}

export function currencyOf(letters: string): string {
  const found = digits[letters]
  if (found === undefined) throw new Error(`the sandbox does not know ${letters}`)
  return found
}
