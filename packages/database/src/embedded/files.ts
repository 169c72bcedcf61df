/** Files of the embedded PostgreSQL: their places, their owner, and who may enter. */
import { randomBytes } from 'node:crypto'
import { chown, lchown, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** A failure of the embedded PostgreSQL, in a sentence for the person who started Rollcall. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError'
}

/** True when `error` is a system or PostgreSQL error with one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

/** The paths of the parts of a cluster, below its home directory. */
export function clusterPaths(home: string) {
  return {
    home,
    data: join(home, 'data'),
    /** The superuser's password, mode 0600. */
    passwordFile: join(home, 'password'),
    logFile: join(home, 'postgres.log'),
  }
}

export type Layout = ReturnType<typeof clusterPaths>

/** Names that this process gave out: after a restart in a container another process may well have the same id. */
const ours = new Set<string>()

/** A temporary name beside `path`, with the process that works there: `<path>.new-<process id>-<random>`. */
export function temporaryName(path: string): string {
  const name = `${path}.new-${process.pid}-${randomBytes(4).toString('hex')}`
  ours.add(basename(name))
  return name
}

/** True for a temporary name whose process still lives. */
export function isBeingMade(name: string): boolean {
  const pid = Number(/\.new-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1])
  if (Number.isNaN(pid)) return false
  return pid === process.pid ? ours.has(name) : isAlive(pid)
}

/** True when a process of any owner has this id. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasCode(error, 'EPERM')
  }
}

/** Makes `user` the owner of `path` and all below it; nothing when PostgreSQL runs as the user we are. */
export async function changeOwnerBelow(user: ClusterUser, path: string): Promise<void> {
  if (user === null) return
  await lchown(path, user.uid, user.gid)
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true })) {
    await lchown(join(entry.parentPath, entry.name), user.uid, user.gid)
  }
}

/** Gives one file or directory to the user. */
export async function changeOwner(user: ClusterUser, path: string): Promise<void> {
  if (user !== null) await chown(path, user.uid, user.gid)
}

/** The user that PostgreSQL runs as in place of root, whom it refuses; null: it runs as our own user. */
export type ClusterUser = { readonly uid: number; readonly gid: number } | null

/** Unprivileged users, the preferred one first; initdb needs a user with a name. */
const CANDIDATES = ['postgres', '_postgres', 'nobody']

/** The user for a new cluster. Throws EmbeddedPostgresError when root has nobody to turn into. */
export async function newClusterUser(): Promise<ClusterUser> {
  if (process.getuid?.() !== 0) return null
  const users = new Map<string, { uid: number; gid: number }>()
  for (const line of (await readFile('/etc/passwd', 'utf8')).split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name) users.set(name, { uid: Number(uid), gid: Number(gid) })
  }
  for (const name of CANDIDATES) {
    const user = users.get(name)
    if (user) return user
  }
  throw new EmbeddedPostgresError(
    'PostgreSQL does not run as root, and /etc/passwd has neither a user postgres nor a user nobody to run it as. ' +
      'Add one, start Rollcall as an ordinary user, or set DATABASE_URL.',
  )
}

/** The user of an existing cluster: root starts it as the owner of its files. */
export async function ownerOf(path: string): Promise<ClusterUser> {
  if (process.getuid?.() !== 0) return null
  const { uid, gid } = await stat(path)
  if (uid === 0) {
    throw new EmbeddedPostgresError(`PostgreSQL does not run as root, and root owns its files in ${path}.`)
  }
  return { uid, gid }
}

/** True when `user` may enter `directory` and every folder above it; always true for our own user. */
export async function canEnter(user: ClusterUser, directory: string): Promise<boolean> {
  if (user === null) return true
  for (let at = await realpath(directory); ; at = dirname(at)) {
    const { mode, uid, gid } = await stat(at)
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (at === dirname(at)) return true
  }
}
