import { AN, C, echoed, group, person } from '../table.ts'
import { containerKey } from './formats.ts'

/**
 * Values of the merchant's own choice. They come back in the answer; logs leave them out, because
 * nobody knows what a merchant puts there.
 */
export const customParameters = group('', 'Custom parameters', [
  ['customParameters[name]', AN(2048), C, echoed, person, 'Value under a free name. Names from the shopper\'s browser begin with SHOPPER_.', { key: containerKey }],
], [], 'customParameters')
