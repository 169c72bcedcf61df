/** Files of the embedded PostgreSQL: their paths, their owners, and who may enter their folders. */
import { randomBytes } from 'node:crypto'
import { chown, lchown, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** A failure of the embedded PostgreSQL. The message is for the person who started Rollcall. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError'
}

/** True when `error` is a system or PostgreSQL error with one of these codes. */
export function hasErrorCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

/** The paths of the parts of a cluster, below its home directory. */
export function clusterPaths(home: string) {
  return {
    home,
    data: join(home, 'data'),
    /** The path of the file with the superuser's password; its mode is 0600. */
    passwordFile: join(home, 'password'),
    logFile: join(home, 'postgres.log'),
  }
}

/** The paths of the parts of one cluster. */
export type ClusterPaths = ReturnType<typeof clusterPaths>

/** Temporary names that this process made. In a container, an earlier process may have had the same process id. */
const ownTemporaryNames = new Set<string>()

/** Makes a temporary name beside `path` that has our process id: `<path>.new-<process id>-<random>`. */
export function temporaryName(path: string): string {
  const name = `${path}.new-${process.pid}-${randomBytes(4).toString('hex')}`
  ownTemporaryNames.add(basename(name))
  return name
}

/** True for a temporary name whose process still runs: the file or folder is being made. */
export function isBeingMade(name: string): boolean {
  const pid = Number(/\.new-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1])
  if (Number.isNaN(pid)) return false
  return pid === process.pid ? ownTemporaryNames.has(name) : isProcessAlive(pid)
}

/** True when a process has this id, whoever owns it. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasErrorCode(error, 'EPERM')
  }
}

/** Makes `user` the owner of `path` and everything below it. Does nothing when PostgreSQL runs as our own user. */
export async function changeOwnerBelow(user: ClusterUser, path: string): Promise<void> {
  if (user === null) return
  await lchown(path, user.uid, user.gid)
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true })) {
    await lchown(join(entry.parentPath, entry.name), user.uid, user.gid)
  }
}

/** Makes the user the owner of one file or directory. Does nothing when PostgreSQL runs as our own user. */
export async function changeOwner(user: ClusterUser, path: string): Promise<void> {
  if (user !== null) await chown(path, user.uid, user.gid)
}

/** The user that PostgreSQL runs as when we are root, because it refuses root; null when it runs as our own user. */
export type ClusterUser = { readonly uid: number; readonly gid: number } | null

/** Users without special rights, the preferred one first. initdb needs a user with a name. */
const CLUSTER_USER_CANDIDATES = ['postgres', '_postgres', 'nobody']

/** The user for a new cluster; null when we are not root. @throws EmbeddedPostgresError we are root, and no candidate exists */
export async function newClusterUser(): Promise<ClusterUser> {
  if (process.getuid?.() !== 0) return null
  const users = new Map<string, { uid: number; gid: number }>()
  for (const line of (await readFile('/etc/passwd', 'utf8')).split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name) users.set(name, { uid: Number(uid), gid: Number(gid) })
  }
  for (const name of CLUSTER_USER_CANDIDATES) {
    const user = users.get(name)
    if (user) return user
  }
  throw new EmbeddedPostgresError(
    'PostgreSQL does not run as root, and /etc/passwd has neither a user postgres nor a user nobody to run it as. ' +
      'Add one, start Rollcall as an ordinary user, or set DATABASE_URL.',
  )
}

/**
 * The owner of an existing cluster's files, as whom root starts PostgreSQL; null when we are not root.
 * @throws EmbeddedPostgresError we are root, and root owns the files
 */
export async function clusterOwnerOf(path: string): Promise<ClusterUser> {
  if (process.getuid?.() !== 0) return null
  const { uid, gid } = await stat(path)
  if (uid === 0) {
    throw new EmbeddedPostgresError(`PostgreSQL does not run as root, and root owns its files in ${path}.`)
  }
  return { uid, gid }
}

/** True when `user` may enter `directory` and every folder above it; always true for our own user. */
export async function mayEnterDirectory(user: ClusterUser, directory: string): Promise<boolean> {
  if (user === null) return true
  for (let at = await realpath(directory); ; at = dirname(at)) {
    const { mode, uid, gid } = await stat(at)
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (at === dirname(at)) return true
  }
}
