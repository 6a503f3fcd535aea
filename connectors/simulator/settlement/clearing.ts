import type { Settlement } from '@tollgate/plugin-kit'
import { parse } from './parse.ts'
import { zone } from './state.ts'

/** The institute behind both transports, and its format. */
export const clearing = {
  format: 'SIMULATOR-CSV',
  institute: 'Simulated Clearing',
  zone,
  refs: ['reference'],
  parse,
} as const satisfies Partial<Settlement>
