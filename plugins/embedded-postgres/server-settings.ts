export type ServerSettings = Readonly<Record<string, string>>

/** An acknowledged payment is on the disk: these three are on unless a caller overrides them. */
const durability = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
}

/** For a machine with two cores and a few gigabytes that also runs the gateway. */
const sizes = {
  max_connections: '200',
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  work_mem: '8MB',
  maintenance_work_mem: '128MB',
  // Fewer checkpoints, fewer full pages in the log, and those compressed.
  checkpoint_timeout: '15min',
  max_wal_size: '2GB',
  min_wal_size: '256MB',
  wal_compression: 'pglz',
  random_page_cost: '1.1',
  // Short statements gain nothing from either, and containers are short of /dev/shm.
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  // With a huge page limit of zero, which many containers have, asking for them fails.
  huge_pages: 'off',
  // Hot rows are updated often: their dead versions must not pile up between visits.
  autovacuum_naptime: '20s',
}

/**
 * The server's log contains starts, stops and crashes. Refused statements go to their client and
 * not into a file, because their text can quote a shopper's input.
 */
const logging = {
  log_destination: 'stderr',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] ',
  log_timezone: 'UTC',
  timezone: 'UTC',
}

/**
 * The server's command line after its data folder. `wanted` overrides our defaults, except for the
 * address and the log.
 */
export function commandLine(port: number, wanted: ServerSettings): string[] {
  const all = {
    ...durability,
    ...sizes,
    ...logging,
    ...wanted,
    logging_collector: 'off',
    lc_messages: 'C',
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
  }
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
