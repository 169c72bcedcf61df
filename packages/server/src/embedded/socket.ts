import { createHash } from 'node:crypto'
import { lstat, mkdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { EmbeddedPostgresError, hasCode } from './errors.ts'
import { giveOne } from './files.ts'
import type { Postmaster } from './lock-file.ts'
import { canEnter } from './user.ts'

/** Only names the socket file: nothing listens on a network. */
export const PORT = 5432

/** sockaddr_un holds 107 bytes and a NUL on Linux, 103 on macOS. */
const LONGEST = 103
const PREFIX = 'rollcall-socket-'

/**
 * The directory of the cluster's socket: its home, which only its user may enter; where that path is too long, a
 * directory with mode 0700 among the temporary files. Its name is the same at every start, and only who knows the
 * password can tell it.
 */
export async function socketDirectory(cluster: Cluster): Promise<string> {
  if (fits(cluster.home)) return cluster.home
  const name = PREFIX + createHash('sha256').update(`socket ${cluster.password}`).digest('hex').slice(0, 16)
  for (const parent of new Set([tmpdir(), '/tmp'])) {
    if (!(await canEnter(cluster.user, parent))) continue
    const directory = join(await realpath(parent), name)
    if (fits(directory) && (await makePrivate(directory, cluster))) return directory
  }
  throw new EmbeddedPostgresError(
    `The path ${cluster.home} is too long for a unix socket, and no folder for temporary files will do instead. ` +
      'Set TMPDIR to a shorter one.',
  )
}

/** Removes the directory among the temporary files, if `postmaster` had one, after it has stopped. */
export async function removeSocketDirectory({ socketDirectory: directory }: Postmaster): Promise<void> {
  if (basename(directory).startsWith(PREFIX)) await rm(directory, { recursive: true, force: true })
}

function fits(directory: string): boolean {
  return Buffer.byteLength(join(directory, `.s.PGSQL.${PORT}`)) <= LONGEST
}

/** Makes `directory`, or makes sure that it was us who made it: the temporary files are everybody's. */
async function makePrivate(directory: string, { user }: Cluster): Promise<boolean> {
  try {
    await mkdir(directory, { mode: 0o700 })
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) return false
    const status = await lstat(directory)
    const ours = status.uid === user?.uid || status.uid === process.getuid?.()
    if (!ours || !status.isDirectory() || (status.mode & 0o777) !== 0o700) return false
  }
  await giveOne(user, directory)
  return true
}
