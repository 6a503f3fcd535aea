/** Writes the few structures of certificates and signatures that the sandbox needs, in DER. */

/** A value after its tag and its length. */
export function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), lengthOf(value.length), value])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff]
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

export const sequence = (...parts: readonly Buffer[]) => tlv(0x30, ...parts)
export const set = (...parts: readonly Buffer[]) => tlv(0x31, ...parts)
/** A constructed value under a tag of its context. */
export const tagged = (number: number, ...parts: readonly Buffer[]) => tlv(0xa0 | number, ...parts)
export const octets = (value: Buffer) => tlv(0x04, value)
export const bits = (value: Buffer) => tlv(0x03, Buffer.from([0]), value)
export const text = (value: string) => tlv(0x0c, Buffer.from(value))
export const boolean = (value: boolean) => tlv(0x01, Buffer.from([value ? 0xff : 0]))
/** A positive number of less than 128. */
export const small = (value: number) => tlv(0x02, Buffer.from([value]))
export const serial = (bytes: Buffer) => tlv(0x02, Buffer.from([1]), bytes)
export const time = (at: Date) =>
  tlv(0x18, Buffer.from(`${at.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`))

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number)
  return tlv(0x06, Buffer.from([first * 40 + second]), ...others.map(base128))
}

function base128(number: number): Buffer {
  const digits = [number % 128]
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) {
    digits.unshift((rest % 128) | 0x80)
  }
  return Buffer.from(digits)
}
