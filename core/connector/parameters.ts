import type { Connector, RequestFields } from '@tollgate/plugin-kit'
import { formatMessage } from '@tollgate/schemas'
import { GatewayError, type ParameterError } from '../errors.ts'
import { fitsFormat } from './settings.ts'

/**
 * Checks the custom parameters that a connector reads against the formats that it states.
 *
 * @throws GatewayError 200.300.404 naming each wrong one. Nothing was written or sent.
 */
export function refuseWrongParameters({ supports }: Connector, fields: RequestFields): void {
  const { customParameters: sent } = fields
  if (typeof sent !== 'object' || Array.isArray(sent)) return
  const parameterErrors = Object.entries(supports.customParameters ?? {}).flatMap(
    ([name, format]): ParameterError[] => {
      const value = (sent as RequestFields)[name]
      if (typeof value !== 'string' || fitsFormat(format, value)) return []
      return [{ name: `customParameters[${name}]`, message: formatMessage(format) }]
    },
  )
  if (parameterErrors.length > 0) throw new GatewayError('200.300.404', { parameterErrors })
}
