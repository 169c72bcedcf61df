import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { EmbeddedPostgresError } from './errors.ts'

/** The user PostgreSQL runs as when we are root, whom PostgreSQL refuses. Null: it runs as the user we are. */
export type ClusterUser = { readonly uid: number; readonly gid: number } | null

/** Unprivileged users in the order of preference; initdb needs one that the system knows by name. */
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

/** The user of a cluster that exists: root starts it as the one who owns its files, whoever that is. */
export async function ownerOf(path: string): Promise<ClusterUser> {
  if (process.getuid?.() !== 0) return null
  const { uid, gid } = await stat(path)
  if (uid === 0) {
    throw new EmbeddedPostgresError(`PostgreSQL does not run as root, and root owns its files in ${path}.`)
  }
  return { uid, gid }
}

/** Whether `user` may enter `directory` and every folder above it (our own user always counts as able). */
export async function canEnter(user: ClusterUser, directory: string): Promise<boolean> {
  if (user === null) return true
  for (let at = await realpath(directory); ; at = dirname(at)) {
    const { mode, uid, gid } = await stat(at)
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (at === dirname(at)) return true
  }
}
