import type { Setting } from './setting-table.ts'

const text = { kind: 'text' } as const

/** Settings of a key server, and of how long keys are kept. */
export const keySettings = [
  {
    name: 'keyServerUrl',
    env: 'TOLLGATE_KEY_SERVER_URL',
    format: { kind: 'url', schemes: ['https', 'http'] },
    meaning:
      'Key server with the transit API of HashiCorp Vault. With it data keys are wrapped there; keys and keyFile only open what they wrapped before.',
  },
  {
    name: 'keyServerKey',
    env: 'TOLLGATE_KEY_SERVER_KEY',
    format: text,
    default: 'tollgate',
    meaning: 'Name of the key in the key server.',
  },
  {
    name: 'keyServerMount',
    env: 'TOLLGATE_KEY_SERVER_MOUNT',
    format: text,
    default: 'transit',
    meaning: 'Where the transit engine is mounted in the key server.',
  },
  {
    name: 'keyServerTokenFile',
    env: 'TOLLGATE_KEY_SERVER_TOKEN_FILE',
    format: text,
    meaning: 'File with the token for the key server, read before every request.',
  },
  {
    name: 'keyServerToken',
    env: 'TOLLGATE_KEY_SERVER_TOKEN',
    format: text,
    meaning: 'The token itself, where no file holds it.',
    secret: true,
  },
  {
    name: 'keyServerNamespace',
    env: 'TOLLGATE_KEY_SERVER_NAMESPACE',
    format: text,
    meaning: 'Namespace in the key server.',
  },
  {
    name: 'keyServerAllow',
    env: 'TOLLGATE_KEY_SERVER_ALLOW',
    format: text,
    meaning:
      'Private addresses or subnets, separated by commas, that the key server may have; loopback for this machine, also by http.',
  },
  {
    name: 'keyServerCaFile',
    env: 'TOLLGATE_KEY_SERVER_CA_FILE',
    format: text,
    meaning: 'PEM file with an authority that signed the certificate of the key server.',
  },
  {
    name: 'keyServerTimeoutMs',
    env: 'TOLLGATE_KEY_SERVER_TIMEOUT_MS',
    format: { kind: 'integer', min: 100, max: 4_500 },
    default: '4000',
    meaning:
      'Longest that one request to the key server may take; a failed one is sent again twice.',
  },
  {
    name: 'wrapWith',
    env: 'TOLLGATE_WRAP_WITH',
    format: { kind: 'choice', of: ['server', 'file'] },
    meaning:
      'Where new data keys are wrapped when both are there: server (the default) or file, to move back to keys or keyFile.',
  },
  {
    name: 'keyCacheMs',
    env: 'TOLLGATE_KEY_CACHE_MS',
    format: { kind: 'integer', min: 60_000, max: 86_400_000 },
    default: '14400000',
    meaning: 'How long data keys are used from memory while the key provider does not answer.',
  },
] as const satisfies readonly Setting[]
