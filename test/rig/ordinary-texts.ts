/** Ordinary texts with many digits, of many kinds, at random: what shops send, and what is no card number. */
export type Random = {
  (): number
  int(least: number, most: number): number
  digits(count: number): string
  of<T>(list: readonly T[]): T
}
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return Object.assign(next, {
    int,
    digits: (count: number) => Array.from({ length: count }, () => int(0, 9)).join(''),
    of: <T>(list: readonly T[]) => list[int(0, list.length - 1)]!,
  })
}
const two = (n: number) => String(n).padStart(2, '0')
const gtin = (body: string) => {
  let sum = 0
  for (let i = 0; i < body.length; i++)
    sum += Number(body[body.length - 1 - i]) * (i % 2 === 0 ? 3 : 1)
  return body + ((10 - (sum % 10)) % 10)
}
/** With the check digit of card numbers, phones' serial numbers and SIM cards. */
export const withCheckDigit = (body: string) => {
  let sum = 0
  for (let i = 0; i < body.length; i++) {
    let d = Number(body[body.length - 1 - i])
    if (i % 2 === 0) {
      d *= 2
      if (d > 9) d -= 9
    }
    sum += d
  }
  return body + ((10 - (sum % 10)) % 10)
}
const ibanOf = (country: string, bban: string) => {
  const digits = [...`${bban + country}00`].map((c) => parseInt(c, 36)).join('')
  const check = 98n - (BigInt(digits) % 97n)
  return `${country}${String(check).padStart(2, '0')}${bban}`
}
const grouped = (text: string, by: number, mark: string) =>
  text.match(new RegExp(`.{1,${by}}`, 'g'))!.join(mark)
const price = (r: Random, mark = '.') => `${r.int(1, 1999)}${mark}${two(r.int(0, 99))}`
const day = (r: Random) => [r.int(2020, 2030), two(r.int(1, 12)), two(r.int(1, 28))] as const
const isoDay = (r: Random) => day(r).join('-')
const deDay = (r: Random) => [...day(r)].reverse().join('.')
const clock = (r: Random) => `${two(r.int(0, 23))}:${two(r.int(0, 59))}`
export const ordinaryTexts: Readonly<Record<string, (r: Random) => string>> = {
  'EAN-13 in a name': (r) => `Bosch drill ${gtin(r.digits(12))}`,
  'several EAN-13': (r) => `${gtin(r.digits(12))}, ${gtin(r.digits(12))}; ${gtin(r.digits(12))}`,
  'GTIN-14 with its name': (r) =>
    r.of(['GTIN ', 'GTIN: ', 'EAN ', '(01)', 'GTIN-14: ']) + gtin(r.int(1, 8) + r.digits(12)),
  'international phone numbers': (r) => {
    const cc = r.of([
      '1',
      '44',
      '49',
      '33',
      '34',
      '39',
      '351',
      '358',
      '370',
      '380',
      '41',
      '43',
      '420',
      '61',
      '62',
      '65',
      '81',
      '86',
      '91',
      '55',
      '971',
    ])
    const rest = r.digits(r.int(8, Math.min(11, 14 - cc.length)))
    return (
      r.of(['Top-up ', 'Call ', '']) +
      r.of([
        `+${cc} ${rest.slice(0, 3)} ${rest.slice(3)}`,
        `+${cc}${rest}`,
        `00${cc} ${rest.slice(0, 2)}-${rest.slice(2, 6)}-${rest.slice(6)}`,
        `+${cc} (0)${rest.slice(0, 2)} / ${rest.slice(2)}`,
      ])
    )
  },
  'two phone numbers': (r) =>
    `Tel. +49 ${r.digits(3)} ${r.digits(8)}${r.of([', ', ' / ', ' or ', '; '])}${r.of(['+49 ', '0'])}${r.digits(3)} ${r.digits(7)}`,
  'a phone number and an extension': (r) =>
    `0${r.digits(4)} ${r.digits(6)}-${r.digits(r.int(1, 4))}`,
  'IBANs in groups': (r) => {
    const [c, n] = r.of([
      ['DE', 18],
      ['ES', 20],
      ['AT', 16],
      ['BE', 12],
      ['PT', 21],
      ['PL', 24],
      ['DK', 14],
      ['FI', 14],
      ['CZ', 20],
      ['HU', 24],
    ] as const)
    const iban = ibanOf(c, r.digits(n))
    return r.of(['', 'IBAN ']) + r.of([iban, grouped(iban, 4, ' '), grouped(iban, 4, '\u00a0')])
  },
  'times from and to': (r) =>
    `${isoDay(r)} ${clock(r)}${r.of([`:${two(r.int(0, 59))}`, ''])}${r.of([' - ', ' – ', ' to ', '/'])}${isoDay(r)} ${clock(r)}`,
  'days from and to': (r) =>
    `${deDay(r)}${r.of([' - ', '-', ' – '])}${deDay(r)}, ${r.int(1, 28)} nights`,
  'a day and hours': (r) => `${deDay(r)}, ${clock(r)} - ${clock(r)}, seat ${r.int(1, 99)}`,
  'time stamps': (r) => {
    const [y, m, d] = day(r)
    return r.of([
      `${y}${m}${d}${two(r.int(0, 23))}${two(r.int(0, 59))}${two(r.int(0, 59))}`,
      `${y}${m}${d}${two(r.int(0, 23))}${two(r.int(0, 59))}${two(r.int(0, 59))}${r.digits(3)}`,
      `17${r.digits(11)}`,
      `17${r.digits(14)}`,
      `17${r.digits(17)}`,
    ])
  },
  'lists of prices': (r) =>
    Array.from({ length: r.int(3, 6) }, () => price(r)).join(r.of([', ', ' + ', '; ', ' / '])),
  'lists of prices with commas': (r) =>
    Array.from({ length: r.int(3, 6) }, () => price(r, ',')).join(r.of([' ', '; ', ' + ', ' € '])),
  'lists of sizes': (r) =>
    Array.from({ length: r.int(4, 9) }, () => r.int(30, 56)).join(r.of([', ', ' / ', '; '])),
  coordinates: (r) => `${r.int(0, 89)}.${r.digits(6)}, ${r.int(0, 179)}.${r.digits(6)}`,
  'IP addresses and ports': (r) =>
    `${Array.from({ length: 4 }, () => r.int(0, 255)).join('.')}:${r.int(1024, 65535)}`,
  'serial numbers of phones (IMEI)': (r) =>
    `IMEI ${withCheckDigit(r.of(['35', '86', '01', '99']) + r.digits(12))}`,
  'SIM cards (ICCID)': (r) => withCheckDigit(`89${r.digits(r.of([16, 17]))}`),
  parcels: (r) =>
    r.of([
      `DHL ${r.digits(12)}`,
      `00${gtin(r.digits(17))}`,
      `9400${r.digits(18)}`,
      `0${r.digits(13)}`,
      `1Z${r.of(['A', 'W', 'E'])}${r.digits(5)}${r.digits(10)}`,
      `JJD01${r.digits(16)}`,
    ]),
  'order and customer numbers': (r) =>
    r.of([
      `Order ${r.digits(6)}, customer ${r.digits(7)}`,
      `45${r.digits(8)} / ${r.int(10, 990)}`,
      `RE-${day(r)[0]}-${r.digits(6)}, Kd. ${r.digits(5)}`,
      `${day(r)[0]}-${r.digits(6)}-${r.digits(2)}`,
    ]),
  'lists of article numbers': (r) =>
    Array.from({ length: r.int(2, 5) }, () => r.digits(r.of([5, 6, 7]))).join(', '),
  measures: (r) =>
    `${r.int(10, 250)} x ${r.int(10, 250)} x ${r.int(10, 250)} mm, ${r.int(1, 40)}.${r.int(0, 9)} kg, ${r.int(100, 4000)} W, ${r.int(1, 9)}-${r.int(10, 19)} V`,
  addresses: (r) =>
    `Hauptstr. ${r.int(1, 250)}, ${r.digits(5)} Berlin, Postfach ${r.digits(2)} ${r.digits(2)} ${r.digits(2)}`,
  'tax numbers': (r) =>
    r.of([
      `DE${r.digits(9)}`,
      `ATU${r.digits(8)}`,
      `${r.digits(3)}/${r.digits(3)}/${r.digits(5)}`,
      `ES${r.digits(8)}B`,
      `CHE-${r.digits(3)}.${r.digits(3)}.${r.digits(3)}`,
    ]),
  ISBN: (r) => {
    const isbn = gtin(`978${r.digits(9)}`)
    return r.of([
      isbn,
      `${isbn.slice(0, 3)}-${isbn.slice(3, 4)}-${isbn.slice(4, 8)}-${isbn.slice(8, 12)}-${isbn.slice(12)}`,
    ])
  },
  'user agents': (r) =>
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/${r.int(90, 150)}.0.${r.int(1000, 7999)}.${r.int(1, 250)} Safari/537.36 Edg/${r.int(90, 150)}.0.${r.int(1000, 4999)}.${r.int(1, 99)}`,
}
