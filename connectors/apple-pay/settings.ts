import { match, none, O, request, secret, settings } from '@tollgate/plugin-kit'

const pem = { kind: 'text', min: 100, max: 32_768, multiline: true } as const

export const config = settings('Apple Pay', [
  [
    'signatureAgeSeconds',
    { kind: 'integer', min: 30, max: 3600 },
    O,
    request,
    none,
    'How long after its signature, and how long before it, a token opens.',
    { default: '300' },
  ],
  [
    'roots',
    pem,
    O,
    request,
    none,
    'Further root certificates of the wallet in PEM, beside the one that the package has.',
  ],
  [
    'testSessionUrl',
    { kind: 'url', max: 200 },
    O,
    request,
    none,
    "Address of a test system in place of the wallet's, for sessions of the widget's button. Not on live.",
    { testOnly: true },
  ],
  ['testRoots', pem, O, request, none, 'Root certificates of a test system in PEM. Not on live.'],
])

export const account = settings('Merchant at Apple Pay', [
  [
    'merchantId',
    match('[A-Za-z0-9][A-Za-z0-9._-]{0,127}', 'merchant.com.example'),
    O,
    request,
    none,
    'Merchant identifier at the wallet. Required unless the certificates name it.',
  ],
  [
    'privateKeys',
    pem,
    O,
    request,
    secret,
    'Private keys of the payment processing certificates in PEM: P-256, or RSA where the wallet asks for it.',
  ],
  [
    'certificates',
    pem,
    O,
    request,
    none,
    'Payment processing certificates in PEM, which name the merchant of their keys.',
  ],
  [
    'merchantName',
    { kind: 'text', min: 1, max: 64 },
    O,
    request,
    none,
    "Name that the wallet's sheet shows to the shopper. Required for the widget's button.",
  ],
  [
    'identityCertificate',
    pem,
    O,
    request,
    none,
    "Merchant identity certificate in PEM, by which the wallet knows the merchant. Required for the widget's button.",
  ],
  [
    'identityKey',
    pem,
    O,
    request,
    secret,
    'Private key of the merchant identity certificate in PEM.',
  ],
  [
    'country',
    match('[A-Z]{2}', 'DE'),
    O,
    request,
    none,
    "Country in which the merchant's acquirer is, ISO 3166-1. Required for the widget's button.",
  ],
])
