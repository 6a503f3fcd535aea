/** Mistakes in the facts and the settings of a connector. */
import { settings } from '@tollgate/plugin-kit'
import { none, O, R, request, secret } from '@tollgate/schemas'
import { but, type Wrong } from './changed-connector.ts'

const text = { kind: 'text', min: 1, max: 64 } as const

export const factMistakes: readonly Wrong[] = [
  {
    what: 'has a name that no engine takes',
    connector: but({ name: 'Acquirer_JSON' }),
    noticed: ['the declaration of the connector is complete'],
  },
  {
    what: 'translates a code into a reason that does not exist',
    connector: but({ reasons: { '05': '800.999.999' as never } }),
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
]
