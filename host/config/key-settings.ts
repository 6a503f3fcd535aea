import type { Setting } from './setting-table.ts'

const text = { kind: 'text' } as const

/** Settings of a key server, and of how long keys are kept. */
export const keySettings = [
  {
    name: 'keyServerUrl',
    env: 'TOLLGATE_KEY_SERVER_URL',
    format: { kind: 'url', schemes: ['https', 'http'] },
    meaning:
      'URL of a key server that implements the transit API of HashiCorp Vault. The key server then wraps data keys; keys and keyFile only open data keys that they wrapped earlier.',
  },
  {
    name: 'keyServerKey',
    env: 'TOLLGATE_KEY_SERVER_KEY',
    format: text,
    default: 'tollgate',
    meaning: 'Name of the key on the key server.',
  },
  {
    name: 'keyServerMount',
    env: 'TOLLGATE_KEY_SERVER_MOUNT',
    format: text,
    default: 'transit',
    meaning: 'Mount path of the transit engine on the key server.',
  },
  {
    name: 'keyServerTokenFile',
    env: 'TOLLGATE_KEY_SERVER_TOKEN_FILE',
    format: text,
    meaning:
      'File with the token for the key server. Tollgate reads the file before every request.',
  },
  {
    name: 'keyServerToken',
    env: 'TOLLGATE_KEY_SERVER_TOKEN',
    format: text,
    meaning: 'Token for the key server, instead of a file.',
    secret: true,
  },
  {
    name: 'keyServerNamespace',
    env: 'TOLLGATE_KEY_SERVER_NAMESPACE',
    format: text,
    meaning: 'Namespace on the key server.',
  },
  {
    name: 'keyServerAllow',
    env: 'TOLLGATE_KEY_SERVER_ALLOW',
    format: text,
    meaning:
      'Private addresses or subnets at which the key server may be reached, separated by commas; loopback allows this machine, also over http.',
  },
  {
    name: 'keyServerCaFile',
    env: 'TOLLGATE_KEY_SERVER_CA_FILE',
    format: text,
    meaning: 'PEM file with the certificate authority of the key server.',
  },
  {
    name: 'keyServerTimeoutMs',
    env: 'TOLLGATE_KEY_SERVER_TIMEOUT_MS',
    format: { kind: 'integer', min: 100, max: 4_500 },
    default: '4000',
    meaning:
      'How long one request to the key server may take. Tollgate retries a failed request twice.',
  },
  {
    name: 'wrapWith',
    env: 'TOLLGATE_WRAP_WITH',
    format: { kind: 'choice', of: ['server', 'file'] },
    meaning:
      'The provider that wraps new data keys when a key server and a local key are both set: server (the default), or file to move back to keys or keyFile.',
  },
  {
    name: 'keyCacheMs',
    env: 'TOLLGATE_KEY_CACHE_MS',
    format: { kind: 'integer', min: 60_000, max: 86_400_000 },
    default: '14400000',
    meaning:
      'How long a process keeps using data keys from memory while the key provider is unavailable.',
  },
] as const satisfies readonly Setting[]
