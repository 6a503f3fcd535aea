import ssh2 from 'ssh2'

type KeyType = 'ed25519' | 'ecdsa' | 'rsa'
type Choices = {
  readonly bits?: number
  readonly comment?: string
  readonly passphrase?: string
  readonly cipher?: string
  readonly rounds?: number
}

/** A key pair in OpenSSH's format. One in a few hundred that the library makes cannot be read, also by itself. */
export function newSshKey(type: KeyType = 'ed25519', choices: Choices = {}) {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync(type as 'ed25519', choices as object)
    const read = ssh2.utils.parseKey(pair.private, choices.passphrase)
    if (!(read instanceof Error)) return pair
  }
}

/** Numbers of this size in the places of an RSA key, which are none. A signature with them takes the longest time. */
export function madeUpRsaKey(bits: number): { readonly pem: string; readonly openSsh: string } {
  const [long, e, short] = [Buffer.alloc(bits / 8, 0xff), Buffer.of(1, 0, 1), Buffer.of(0xc5)]
  const [n, d, p, q, dp, dq, qi] = [long, long, short, short, short, short, short]
  return {
    pem: pkcs1File([n, e, d, p, q, dp, dq, qi]),
    openSsh: openSshFile('ssh-rsa', [n, e, d, qi, p, q]),
  }
}

/** An RSA key in PEM with these numbers: n, e, d, p, q, dp, dq, qi. */
export function pkcs1File(numbers: readonly Buffer[]): string {
  const integers = [Buffer.of(0), ...numbers].map((number) =>
    der(2, number[0]! < 0x80 ? number : Buffer.concat([Buffer.of(0), number])),
  )
  return pemOf('RSA PRIVATE KEY', der(0x30, Buffer.concat(integers)))
}

export function pemOf(label: string, bytes: Buffer): string {
  const lines = bytes
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`
}

/** An element of DER. */
export function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const head = length < 128 ? [length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(tag, ...head), content])
}

/** A public RSA key as in authorized_keys, with this exponent and a modulus of this size. */
export function rsaLine(exponent: bigint, bits: number): string {
  const hex = exponent.toString(16)
  const e = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  const n = Buffer.concat([Buffer.of(0), Buffer.alloc(bits / 8, 0xff)])
  return `ssh-rsa ${Buffer.concat([field('ssh-rsa'), field(e), field(n)]).toString('base64')}`
}

/** A file in OpenSSH's format with these fields of a private key. */
export function openSshFile(type: string, fields: readonly Buffer[]): string {
  const check = Buffer.from('same')
  const secret = [check, check, field(type), ...fields.map(field), field('comment')]
  const size = Buffer.concat(secret).length
  const padding = Buffer.from(Array.from({ length: (8 - (size % 8)) % 8 }, (_, at) => at + 1))
  const bytes = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...[field('none'), field('none'), field(''), Buffer.of(0, 0, 0, 1)],
    field(field(type)),
    field(Buffer.concat([...secret, padding])),
  ])
  const lines = bytes
    .toString('base64')
    .match(/.{1,70}/g)!
    .join('\n')
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines}\n-----END OPENSSH PRIVATE KEY-----\n`
}

function field(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
