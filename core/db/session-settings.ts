/**
 * Settings on which statements of the engine depend. Each may have another value for a server, a database, a user or
 * a session of a customer, so the engine sets all of them.
 */

/** What statements mean and how their results look. */
export const formats = {
  search_path: 'pg_catalog, pg_temp',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  client_encoding: 'UTF8',
  extra_float_digits: '1',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  quote_all_identifiers: 'off',
  row_security: 'on',
  gin_fuzzy_search_limit: '0',
  lc_monetary: 'C',
  lc_numeric: 'C',
  lc_time: 'C',
} as const

/** How statements run, also those of the embedding program on a connection of the engine. */
export const conduct = {
  // pg reads every text as UTF-8.
  client_encoding: 'UTF8',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  exit_on_error: 'off',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  transaction_timeout: '0',
  plan_cache_mode: 'auto',
  jit: 'off',
} as const

export type Settings = Readonly<Record<string, string>>

/** A statement of one row that sets them. A version of the server that lacks one has nothing to set. */
export function settingText(settings: Settings, isLocal: boolean): string {
  const rows = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`)
  return `select pg_catalog.count(pg_catalog.set_config(name, value, ${isLocal}))
    from (values ${rows.join(', ')}) as wanted (name, value)
    where pg_catalog.current_setting(name, true) is not null`
}
