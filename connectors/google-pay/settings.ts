import { match, none, O, request, secret, settings } from '@tollgate/plugin-kit'

const keyText = { kind: 'text', min: 100, max: 16_384, multiline: true } as const
const document = { kind: 'text', min: 20, max: 65_536, multiline: true } as const

/** Documents of the wallet with the public keys that sign tokens. */
export const documents = {
  live: 'https://payments.developers.google.com/paymentmethodtoken/keys.json',
  test: 'https://payments.developers.google.com/paymentmethodtoken/test/keys.json',
} as const

export const config = settings('Google Pay', [
  [
    'gatewayId',
    match('[A-Za-z0-9._-]{1,64}', 'example'),
    O,
    request,
    none,
    'Id of this gateway at the wallet. Tokens for gateway:<id> open with the keys beside it.',
  ],
  [
    'privateKeys',
    keyText,
    O,
    request,
    secret,
    'Private keys of the gateway (P-256), in PEM or each as base64 of its PKCS #8. Several keys stand one below the other.',
  ],
  [
    'allowECv1',
    { kind: 'flag' },
    O,
    request,
    none,
    'Whether tokens of the old version ECv1 open as well. They have no expiring key of the wallet.',
    { default: 'false' },
  ],
  [
    'rootKeysUrl',
    { kind: 'url', max: 200 },
    O,
    request,
    none,
    "Address of the wallet's root keys for real payments. By default the wallet's own.",
  ],
  [
    'rootKeys',
    document,
    O,
    request,
    none,
    'The document with the root keys itself, for an installation that must not fetch it.',
  ],
  [
    'testRootKeysUrl',
    { kind: 'url', max: 200 },
    O,
    request,
    none,
    "Address of the root keys for test payments. By default the wallet's own. Not on live.",
    { testOnly: true },
  ],
  [
    'testRootKeys',
    document,
    O,
    request,
    none,
    'The document with the root keys for test payments itself. Not on live.',
  ],
])

export const account = settings('Merchant at Google Pay', [
  [
    'gatewayMerchantId',
    { kind: 'text', min: 1, max: 128 },
    O,
    request,
    none,
    'Id of the merchant at this gateway, as its pages give it to the wallet. Required for tokens for the gateway.',
  ],
  [
    'merchantId',
    match('[A-Za-z0-9]{1,64}', '12345678901234567890'),
    O,
    request,
    none,
    "Id of the merchant at the wallet. Tokens for merchant:<id> open with the merchant's own keys; the widget's button needs it on live.",
  ],
  [
    'merchantName',
    { kind: 'text', min: 1, max: 64 },
    O,
    request,
    none,
    "Name that the wallet's sheet shows to the shopper.",
  ],
  [
    'privateKeys',
    keyText,
    O,
    request,
    secret,
    "The merchant's own private keys in PEM, P-256, for tokens for merchant:<id>.",
  ],
])
