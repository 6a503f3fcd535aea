/** How the sandbox reads and writes. */
import { writeXml } from '@tollgate/plugin-kit/xml'

export { read as received } from '../src/wire.ts'

export const contentType = 'text/xml; charset=utf-8'

export const shown = (fields: Readonly<Record<string, string | undefined>>): string =>
  writeXml({ Response: fields }).join('')
