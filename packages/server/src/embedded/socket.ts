import { lstat, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { EmbeddedPostgresError, hasCode } from './errors.ts'
import { giveOne } from './files.ts'
import { canEnter } from './user.ts'

/** Only names the socket file: nothing listens on a network. */
export const PORT = 5432

/** sockaddr_un holds 107 bytes and a NUL on Linux, 103 on macOS. */
const LONGEST = 103
const PREFIX = 'rollcall-socket-'

/**
 * The directory of the cluster's socket: its home, which only its user may enter; where that path is too long, a
 * directory with mode 0700 among the temporary files, the same one at every start as long as it is there.
 */
export async function socketDirectory(cluster: Cluster): Promise<string> {
  if (fits(cluster.home)) return cluster.home
  const known = await readFile(cluster.socketFile, 'utf8').catch(() => null)
  if (known !== null && (await isPrivate(known, cluster))) return known
  for (const parent of [tmpdir(), '/tmp']) {
    if (!fits(join(parent, `${PREFIX}XXXXXX`)) || !(await canEnter(cluster.user, parent))) continue
    const directory = await mkdtemp(join(await realpath(parent), PREFIX))
    await giveOne(cluster.user, directory)
    await writeFile(cluster.socketFile, directory, { mode: 0o600 })
    await giveOne(cluster.user, cluster.socketFile)
    return directory
  }
  throw new EmbeddedPostgresError(
    `The path ${cluster.home} is too long for a unix socket, and so is the folder for temporary files. Set TMPDIR to a shorter one.`,
  )
}

/** Removes the directory among the temporary files, if there is one, after PostgreSQL has stopped. */
export async function removeSocketDirectory(cluster: Cluster): Promise<void> {
  const known = await readFile(cluster.socketFile, 'utf8').catch(() => null)
  if (known === null || !basename(known).startsWith(PREFIX)) return
  await rm(known, { recursive: true, force: true })
  await rm(cluster.socketFile, { force: true })
}

function fits(directory: string): boolean {
  return Buffer.byteLength(join(directory, `.s.PGSQL.${PORT}`)) <= LONGEST
}

/** Nobody else put `directory` there: the temporary files are everybody's. Makes it anew if it is gone. */
async function isPrivate(directory: string, { user }: Cluster): Promise<boolean> {
  const status = await lstat(directory).catch((error) => {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  })
  if (status === null) {
    await mkdir(directory, { mode: 0o700 })
    if (user) await giveOne(user, directory)
    return true
  }
  const uid = user?.uid ?? process.getuid?.()
  return status.isDirectory() && status.uid === uid && (status.mode & 0o777) === 0o700
}
