/** Settings of the simulator in its own process, the same for its acquirer and its issuer. */
import { type SettingsOf, settings } from '@tollgate/plugin-kit'
import { none, R, request, secret as secretClass } from '@tollgate/schemas'
import { merchantHeader } from './wire.ts'

const text = (min: number, max: number) => ({ kind: 'text', min, max }) as const

export const config = settings('Simulated acquirer', [
  [
    'url',
    { kind: 'url', max: 2048 },
    R,
    request,
    none,
    'Address of the simulator, http://127.0.0.1:4500.',
  ],
])
export const account = settings('Account at the simulated acquirer', [
  ['merchantId', text(1, 64), R, request, none, 'Name of the merchant there.'],
  ['secret', text(8, 128), R, request, secretClass, 'Proves requests and events.'],
])

/** A URL of the simulator, whose address can have a slash at its end. */
export const urlAt = ({ url }: SettingsOf<typeof config.rows>, path: string): string =>
  `${url.replace(/\/$/, '')}${path}`

/** Headers that prove the merchant. */
export const headersOf = ({ merchantId, secret }: SettingsOf<typeof account.rows>) => ({
  authorization: `Bearer ${secret}`,
  [merchantHeader]: merchantId,
})
