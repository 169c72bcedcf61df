import { randomBytes } from 'node:crypto'
import { chown, lchown, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { hasCode } from './errors.ts'
import type { ClusterUser } from './user.ts'

/** Where the parts of a cluster lie, below its home directory. */
export function layout(home: string) {
  return {
    home,
    data: join(home, 'data'),
    /** The superuser's password, mode 0600. */
    passwordFile: join(home, 'password'),
    logFile: join(home, 'postgres.log'),
  }
}

export type Layout = ReturnType<typeof layout>

/** Names that this process gave out: after a restart in a container another process may well have the same id. */
const ours = new Set<string>()

/** A name beside `path` that says whose unfinished work lies there: `<path>.new-<process id>-<random>`. */
export function temporaryName(path: string): string {
  const name = `${path}.new-${process.pid}-${randomBytes(4).toString('hex')}`
  ours.add(basename(name))
  return name
}

/** Whether `name` is a temporary name and the process that works there still lives. */
export function isBeingMade(name: string): boolean {
  const pid = Number(/\.new-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1])
  if (Number.isNaN(pid)) return false
  return pid === process.pid ? ours.has(name) : isAlive(pid)
}

/** Whether a process with this id exists, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasCode(error, 'EPERM')
  }
}

/** Makes `user` the owner of `path` and all below it; nothing when PostgreSQL runs as the user we are. */
export async function giveTo(user: ClusterUser, path: string): Promise<void> {
  if (user === null) return
  await lchown(path, user.uid, user.gid)
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true })) {
    await lchown(join(entry.parentPath, entry.name), user.uid, user.gid)
  }
}

/** The same for one file or directory. */
export async function giveOne(user: ClusterUser, path: string): Promise<void> {
  if (user !== null) await chown(path, user.uid, user.gid)
}
