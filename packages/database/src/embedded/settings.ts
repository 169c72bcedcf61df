/** Settings and socket of the embedded PostgreSQL. */
import { createHash } from 'node:crypto'
import { lstat, mkdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { changeOwner, EmbeddedPostgresError, hasErrorCode, mayEnterDirectory } from './files.ts'

/** Settings on PostgreSQL's command line: neither postgresql.conf nor ALTER SYSTEM can override them. */
export const POSTGRES_SETTINGS: Readonly<Record<string, string>> = {
  // PostgreSQL listens on a unix socket only, in a directory that only its user may enter.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  password_encryption: 'scram-sha-256',
  max_connections: '100',

  // Committed data survive a power cut.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',

  // Personal data must not reach the log. Errors of statements are not logged, because they can quote a parameter
  // ("invalid input syntax for type date: ..."). `terse` leaves out DETAIL lines, which can quote keys.
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

  // These values suit a machine that does other work too, and short statements.
  shared_buffers: '256MB',
  work_mem: '8MB',
  maintenance_work_mem: '128MB',
  max_wal_size: '2GB',
  wal_compression: 'on',
  random_page_cost: '1.1',
  jit: 'off',
  timezone: 'UTC',
}

/** The port number, which is only part of the socket's name: PostgreSQL does not listen on a network. */
export const SOCKET_PORT = 5432

/** The most bytes in the path of a socket. Linux allows 107, macOS only 103. */
const MOST_SOCKET_PATH_BYTES = 103
const SOCKET_DIRECTORY_PREFIX = 'rollcall-socket-'

/**
 * The directory of the socket: the home of the cluster, which only its user may enter. If that path is too long, a directory of
 * mode 0700 below the temporary files. Its name is the same at every start, and nobody can guess it without the password.
 */
export async function socketDirectory(cluster: Cluster): Promise<string> {
  if (isShortEnoughForSocket(cluster.home)) return cluster.home
  const name = SOCKET_DIRECTORY_PREFIX + createHash('sha256').update(`socket ${cluster.password}`).digest('hex').slice(0, 16)
  for (const parent of new Set([tmpdir(), '/tmp'])) {
    if (!(await mayEnterDirectory(cluster.user, parent))) continue
    const directory = join(await realpath(parent), name)
    if (isShortEnoughForSocket(directory) && (await makePrivateDirectory(directory, cluster))) return directory
  }
  throw new EmbeddedPostgresError(
    `The path ${cluster.home} is too long for a unix socket, and no folder for temporary files will do instead. ` +
      'Set TMPDIR to a shorter one.',
  )
}

/** Removes the directory of a stopped postmaster's socket, if it is below the temporary files. */
export async function removeSocketDirectory({ socketDirectory: directory }: { readonly socketDirectory: string }): Promise<void> {
  if (basename(directory).startsWith(SOCKET_DIRECTORY_PREFIX)) await rm(directory, { recursive: true, force: true })
}

function isShortEnoughForSocket(directory: string): boolean {
  return Buffer.byteLength(join(directory, `.s.PGSQL.${SOCKET_PORT}`)) <= MOST_SOCKET_PATH_BYTES
}

/** Makes `directory` for its owner alone; false when this fails, or another user owns it: all can write in `/tmp`. */
async function makePrivateDirectory(directory: string, { user }: Cluster): Promise<boolean> {
  try {
    await mkdir(directory, { mode: 0o700 })
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) return false
    const status = await lstat(directory)
    const ours = status.uid === user?.uid || status.uid === process.getuid?.()
    if (!ours || !status.isDirectory() || (status.mode & 0o777) !== 0o700) return false
  }
  await changeOwner(user, directory)
  return true
}
