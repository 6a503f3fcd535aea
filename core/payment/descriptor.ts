import type { RequestFields } from '@tollgate/plugin-kit'
import { groupOf, textOf } from '../request/values.ts'

/** `merchant.name` takes precedence over `descriptor` on the statement. */
export function descriptorOf(fields: RequestFields): string | undefined {
  return textOf(groupOf(fields, 'merchant'), 'name') ?? textOf(fields, 'descriptor')
}
