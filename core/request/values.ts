import type { RequestFields } from '@tollgate/plugin-kit'
import type { Reason } from '@tollgate/schemas'
import { GatewayError } from '../errors.ts'
import { printableValue } from './names.ts'

/** A refusal that names one field. `value` only for fields that hold neither a person nor an account. */
export function refuse(code: Reason, name: string, message: string, value?: string): GatewayError {
  const shown = value === undefined ? {} : { value: printableValue(value) }
  return new GatewayError(code, { parameterErrors: [{ name, ...shown, message }] })
}

/** The fields below a name, when it is a group. */
export function groupOf(fields: RequestFields, name: string): RequestFields | undefined {
  const value = fields[name]
  return typeof value === 'object' && !Array.isArray(value) ? (value as RequestFields) : undefined
}

/** The value of a name, when it was sent. */
export function textOf(fields: RequestFields | undefined, name: string): string | undefined {
  const value = fields?.[name]
  return typeof value === 'string' ? value : undefined
}
