import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, readFile, readlink, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { makeDataDirectory, syncDirectory } from '@rollcall/base/shared/data-directory'
import { type Binaries, requireUsableBinaries } from './binaries.ts'
import {
  type ClusterPaths,
  type ClusterUser,
  changeOwner,
  clusterOwnerOf,
  clusterPaths,
  EmbeddedPostgresError,
  hasErrorCode,
  isBeingMade,
  mayEnterDirectory,
  newClusterUser,
  temporaryName,
} from './files.ts'

const runProgram = promisify(execFile)

/** The name of the cluster's superuser, which owns the database. */
export const SUPERUSER = 'rollcall'

/** A cluster of PostgreSQL (its data files) that is complete on disk. PostgreSQL may run on it or not. */
export interface Cluster extends ClusterPaths {
  readonly user: ClusterUser
  readonly binaries: Binaries
  readonly password: string
}

/**
 * Opens the cluster of `dataDirectory`, and makes it with initdb if it is missing. `<dataDirectory>/postgres` is the
 * home of the cluster, or a symbolic link to it where PostgreSQL's user cannot enter the data directory. The home
 * appears complete or not at all.
 */
export async function ensureCluster(dataDirectory: string): Promise<Cluster> {
  if (!(await isExistingPath(join(dataDirectory, 'postgres')))) await makeDataDirectory(dataDirectory)
  const location = join(await realpath(dataDirectory), 'postgres')
  await removeUnfinishedClusters(location)
  if (!(await isExistingPath(location))) await makeCluster(location)
  return openCluster(location)
}

async function openCluster(location: string): Promise<Cluster> {
  const { files, major, password, user } = await readCluster(location)
  if (!(await mayEnterDirectory(user, files.home))) {
    throw new EmbeddedPostgresError(
      `PostgreSQL's files in ${files.home} are in a folder that their owner (user id ${user?.uid}) may not enter. ` +
        'Open the folders above it with chmod o+x, or move the data directory.',
    )
  }
  const binaries = await requireUsableBinaries(user, files.home)
  if (binaries.major !== major) {
    throw new EmbeddedPostgresError(
      `The database in ${files.data} was made by PostgreSQL ${major}, and the installed one is ${binaries.major}. ` +
        `Start the Rollcall that made it, or set ROLLCALL_DATA to another directory. Its log file is ${files.logFile}.`,
    )
  }
  return { ...files, user, binaries, password }
}

async function readCluster(location: string) {
  try {
    const files = clusterPaths(await realpath(location))
    const major = (await readFile(join(files.data, 'PG_VERSION'), 'utf8')).trim()
    const password = (await readFile(files.passwordFile, 'utf8')).trim()
    return { files, major, password, user: await clusterOwnerOf(files.data) }
  } catch (error) {
    const target = await readlink(location).catch(() => null)
    if (hasErrorCode(error, 'ENOENT') && target !== null && !(await isExistingPath(target))) {
      throw new EmbeddedPostgresError(
        `${location} points to ${target}, where PostgreSQL's files were, and that is gone. ` +
          `Bring it back, or remove ${location} to begin with an empty database.`,
      )
    }
    if (hasErrorCode(error, 'ENOENT', 'ENOTDIR')) {
      throw new EmbeddedPostgresError(`${location} is not a PostgreSQL cluster that Rollcall made: it lacks files.`)
    }
    if (hasErrorCode(error, 'EACCES', 'EPERM')) {
      throw new EmbeddedPostgresError(`${location} belongs to another user. Start Rollcall as that user.`)
    }
    throw error
  }
}

/** Makes a cluster, and then puts it, or a symbolic link to it, at `location` in one step. */
async function makeCluster(location: string): Promise<void> {
  const user = await newClusterUser()
  requireUserName(user)
  const unfinished = temporaryName(location)
  const elsewhere = (await mayEnterDirectory(user, join(location, '..'))) ? null : await clusterHomeOutsideDataDir(user)
  const home = elsewhere ?? unfinished
  try {
    // The link is made first: if this process is killed, the next start follows the link and removes the unfinished home.
    if (elsewhere) await symlink(elsewhere, unfinished)
    await mkdir(home, { mode: 0o700 })
    await changeOwner(user, home)
    await initialiseCluster(home, user)
    if (await putClusterInPlace(unfinished, location, elsewhere)) return
    await discard()
  } catch (error) {
    await discard()
    throw error
  }

  async function discard(): Promise<void> {
    await rm(home, { recursive: true, force: true })
    await rm(unfinished, { recursive: true, force: true })
  }
}

/**
 * Moves the finished cluster to `location`; if the cluster was made at `elsewhere`, makes a link to it instead. False when
 * another process was faster: its cluster is used.
 */
async function putClusterInPlace(unfinished: string, location: string, elsewhere: string | null): Promise<boolean> {
  try {
    if (elsewhere) await symlink(elsewhere, location)
    else await rename(unfinished, location)
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST', 'ENOTEMPTY', 'ENOTDIR')) return false
    throw error
  }
  // Another process may use the cluster from here on. Later errors are not thrown: the caller would remove the cluster.
  if (elsewhere) await rm(unfinished).catch(() => undefined)
  await syncDirectory(join(location, '..')).catch(() => undefined)
  return true
}

async function initialiseCluster(home: string, user: ClusterUser): Promise<void> {
  const files = clusterPaths(home)
  await writeFile(files.passwordFile, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true })
  await changeOwner(user, files.passwordFile)
  const binaries = await requireUsableBinaries(user, home)
  const options = [
    ...['--pgdata', files.data, '--username', SUPERUSER, '--pwfile', files.passwordFile],
    ...['--encoding', 'UTF8', '--locale', 'C', '--auth', 'scram-sha-256', '--no-instructions'],
  ]
  try {
    await runProgram(binaries.initdb, options, { cwd: home, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, ...user })
  } catch (error) {
    const reason = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error)
    throw new EmbeddedPostgresError(`PostgreSQL could not make its files in ${home}: ${reason}`)
  }
}

/** Checks that the user of this process has a name, as initdb needs: `docker run --user 12345` gives none. */
function requireUserName(user: ClusterUser): void {
  if (user !== null) return
  try {
    userInfo()
  } catch {
    throw new EmbeddedPostgresError(
      `PostgreSQL needs a user with a name, and user id ${process.getuid?.()} has none in /etc/passwd. ` +
        'Add an entry, or set DATABASE_URL.',
    )
  }
}

/** A path for the home of a cluster outside of the data directory, below a folder that `user` can enter. */
async function clusterHomeOutsideDataDir(user: ClusterUser): Promise<string> {
  const name = randomBytes(8).toString('hex')
  for (const [parent, prefix] of [
    ['/var/lib/rollcall', ''],
    [tmpdir(), 'rollcall-'],
    ['/tmp', 'rollcall-'],
  ] as const) {
    try {
      const made = await mkdir(parent, { recursive: true })
      // Set the mode whatever our umask is: PostgreSQL's user must be able to enter.
      if (made !== undefined) await chmod(parent, 0o755)
      if (await mayEnterDirectory(user, parent)) return join(await realpath(parent), prefix + name)
    } catch (error) {
      if (!hasErrorCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR')) throw error
    }
  }
  throw new EmbeddedPostgresError('There is no folder in which PostgreSQL, as an unprivileged user, can keep its files.')
}

/** Removes unfinished clusters that a killed process left. */
async function removeUnfinishedClusters(location: string): Promise<void> {
  const parent = join(location, '..')
  for (const name of await readdir(parent)) {
    if (!/^postgres\.new-\d+-[0-9a-f]{8}$/.test(name) || isBeingMade(name)) continue
    const leftover = join(parent, name)
    const target = await readlink(leftover).catch(() => null)
    // If `location` is a link to the same cluster, a process was killed after it had finished the cluster: remove only this
    // leftover link.
    const finished = target !== null && target === (await readlink(location).catch(() => null))
    const ours = target !== null && /^(rollcall-)?[0-9a-f]{16}$/.test(basename(target))
    const gone = ours && !finished ? [target, leftover] : [leftover]
    // Ignore errors: another process may remove the same files, or initdb may still write. The next start tries again.
    for (const path of gone) await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

async function isExistingPath(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
