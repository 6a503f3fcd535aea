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
