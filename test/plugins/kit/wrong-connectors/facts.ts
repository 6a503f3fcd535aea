/** Mistakes in the facts and the settings of a connector. */
import { declined, none, O, R, request, secret, settings } from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import {
  around,
  but,
  contextOver,
  enquiring,
  resolving,
  saying,
  type Wrong,
} from './changed-connector.ts'

const text = { kind: 'text', min: 1, max: 64 } as const

export const factMistakes: readonly Wrong[] = [
  {
    what: 'writes its paths behind any address',
    connector: around(
      (handler) => (operation, context) =>
        handler(
          operation,
          contextOver(context, operation, (send) => (method, url, options) => {
            const isSlashed = String(context.config.url).endsWith('/')
            return send(method, isSlashed ? url.replace(/(:[0-9]+)\//, '$1//') : url, options)
          }),
        ),
    ),
    noticed: ['an address with a slash at its end is the same address'],
  },
  {
    what: 'asks before the acquirer can know',
    connector: but({ supports: { ...right.supports, enquiryVisibleAfterMs: 0 } }),
    noticed: ['the engine waits as long as enquiries can miss an operation'],
  },
  {
    what: 'has a time that is none',
    connector: but({ supports: { ...right.supports, enquiryVisibleAfterMs: Number.NaN } }),
    noticed: ['the declaration of the connector is complete'],
  },
  {
    what: 'has a name that no engine takes',
    connector: but({ name: 'Acquirer_JSON' }),
    noticed: ['the declaration of the connector is complete'],
  },
  {
    what: 'keeps its key in a setting that everybody may read',
    connector: but({
      account: settings('Account', [
        ['merchantId', text, R, request, none, 'Id of the merchant.'],
        ['apiKey', text, R, request, none, 'Proves our requests.'],
        ['eventSecret', text, R, request, secret, 'Proves their events.'],
      ]),
    }),
    noticed: ['credentials are settings of class secret'],
  },
  {
    what: 'calls a setting optional that it cannot do without',
    connector: but({
      account: settings('Account', [
        ['merchantId', text, O, request, none, 'Id of the merchant.'],
        ['apiKey', text, R, request, secret, 'Proves our requests.'],
        ['eventSecret', text, R, request, secret, 'Proves their events.'],
      ]),
    }),
    noticed: ['settings are listed, and optional ones can be absent'],
  },
  {
    what: 'finds all credentials right',
    connector: but({ check: async () => ({ ok: true }) }),
    noticed: ['check distinguishes right credentials from wrong ones'],
  },
  {
    what: 'declines the card when its key is refused',
    connector: saying((outcome) =>
      outcome.is === 'declined' && outcome.code === 'bad-credentials'
        ? declined('800.100.152')
        : outcome,
    ),
    noticed: ['refused credentials are no decline of the card, and prove nothing'],
  },
  {
    what: 'takes every decline for the answer to its idempotency key',
    connector: saying((outcome) =>
      outcome.is === 'declined' ? { ...outcome, ofKey: true } : outcome,
    ),
    noticed: ['refused credentials are no decline of the card, and prove nothing'],
  },
  {
    what: 'knows no payment when its key is refused',
    connector: enquiring(async (operation, context) => {
      const found = await right.resolve.enquire!(operation, context)
      return found.is === 'unknown' && found.why.includes('401') ? { is: 'notFound' } : found
    }),
    noticed: ['refused credentials are no decline of the card, and prove nothing'],
  },
  {
    what: 'takes a reversal for done when its key is refused',
    connector: resolving({
      async reverseByKey(operation, context) {
        const end = await right.resolve.reverseByKey!(operation, context)
        return end.is === 'unknown' && end.why.includes('401') ? { is: 'reversed' } : end
      },
    }),
    noticed: ['refused credentials are no decline of the card, and prove nothing'],
  },
]
