/** Where requests to acquirers may go. */
import { type AddressRules, addressRules } from '../net/address.ts'

export type ConnectorReach = {
  readonly environment: 'test' | 'live'
  /** Of a test environment: whether requests reach this machine. Default: true. */
  readonly allowLoopback?: boolean
}

export const mayReachLoopback = ({ environment, allowLoopback }: ConnectorReach): boolean =>
  environment === 'test' && allowLoopback !== false

export const connectorRules = (reach: ConnectorReach): AddressRules =>
  addressRules({ allowLoopback: mayReachLoopback(reach) })
