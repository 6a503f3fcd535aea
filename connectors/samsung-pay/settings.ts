import { none, O, request, secret, settings } from '@tollgate/plugin-kit'

const keyText = { kind: 'text', min: 100, max: 32_768, multiline: true } as const

export const config = settings('Samsung Pay', [
  [
    'tokenAgeSeconds',
    { kind: 'integer', min: 30, max: 3600 },
    O,
    request,
    none,
    'How long after the time in it, and how long before it, a token opens.',
    { default: '300' },
  ],
])

export const account = settings('Merchant at Samsung Pay', [
  [
    'privateKeys',
    keyText,
    O,
    request,
    secret,
    "The merchant's own private RSA keys in PEM. Several keys stand one below the other.",
  ],
])
