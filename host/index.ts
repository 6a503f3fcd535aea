export { describeSettings, type SettingDescription } from './config/describe.ts'
export { defineConfig, SettingsError, type TollgateConfig } from './config/read-settings.ts'
export { createHost, type Host, type HostOptions, type Listening } from './http/host.ts'
export type { HostLog } from './http/request-log.ts'
export { type ListenAddress, ListenError, type ServerLimits } from './http/server.ts'
export type { ThrottleOptions } from './http/throttle.ts'
export {
  type EmbeddedPostgres,
  EmbeddedPostgresError,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './postgres/index.ts'
