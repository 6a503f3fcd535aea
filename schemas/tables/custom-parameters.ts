import { AN, C, echoed, group, person } from '../table.ts'
import { containerKey } from './formats.ts'

/**
 * Values of the merchant's own choice, returned in the answer. Logs omit them, because their
 * content is unknown.
 */
export const customParameters = group('', 'Custom parameters', [
  ['customParameters[name]', AN(2048), C, echoed, person, 'Value under a free name. Names from the shopper\'s browser begin with SHOPPER_.', { key: containerKey }],
], [], 'customParameters')
