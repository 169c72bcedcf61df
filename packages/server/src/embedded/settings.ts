/**
 * The settings PostgreSQL is started with. They go on its command line, where neither an edited postgresql.conf
 * nor ALTER SYSTEM can weaken them.
 */
export const SETTINGS: Readonly<Record<string, string>> = {
  // Reached through a unix socket in a directory that only we may enter.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  password_encryption: 'scram-sha-256',
  max_connections: '100',

  // What was acknowledged survives a power cut.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',

  // Personal data must not reach the log. An ERROR can quote a parameter ("invalid input syntax for type date: ..."),
  // so errors of statements are not logged at all; DETAIL lines can quote keys and statements, terse leaves them out.
  log_min_messages: 'log',
  log_statement: 'none',
  log_min_error_statement: 'panic',
  log_min_duration_statement: '-1',
  log_min_duration_sample: '-1',
  log_transaction_sample_rate: '0',
  log_duration: 'off',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_error_verbosity: 'terse',
  log_lock_waits: 'off',
  log_temp_files: '-1',
  log_autovacuum_min_duration: '-1',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] ',
  log_timezone: 'UTC',
  logging_collector: 'off',
  lc_messages: 'C',

  // One machine that does other work too; statements are short.
  shared_buffers: '256MB',
  work_mem: '8MB',
  maintenance_work_mem: '128MB',
  max_wal_size: '2GB',
  wal_compression: 'on',
  random_page_cost: '1.1',
  jit: 'off',
  timezone: 'UTC',
}
