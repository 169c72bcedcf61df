import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { mayEnterDirectory } from '@rollcall/database/embedded/files'
import { openEmbeddedPostgres } from '@rollcall/database/embedded/postgres'
import { onTestFinished } from 'vitest'
import { madeOnce } from './made-once.ts'

export { query } from './statement.ts'

/** Only root has to become somebody else for PostgreSQL: what tests expect of that is chosen by this. */
export const isRoot = process.getuid?.() === 0

/** A directory for one test, which others may enter. Afterwards it goes, with a PostgreSQL that a test left in it. */
export async function temporaryDirectory(mode = 0o711): Promise<string> {
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'rollcall-embedded-'))
  await chmod(directory, mode)
  onTestFinished(async () => {
    await remove(directory)
  })
  return directory
}

/** The same, with a PostgreSQL that was started once and stopped: to make a cluster is most of a first start. */
export async function startedDirectory(): Promise<string> {
  const directory = await temporaryDirectory()
  await copyCluster(directory)
  return directory
}

/** Copies the cluster that is made once in a run; its files belong to a user of their own, and stay so. */
export async function copyCluster(directory: string): Promise<void> {
  const { status, stderr } = spawnSync('cp', ['-a', `${await madeCluster()}/.`, directory], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the cluster is not copied: ${stderr}`)
}

const madeCluster = (): Promise<string> =>
  madeOnce('cluster', async (fresh) => {
    await chmod(fresh, 0o711)
    const first = await openEmbeddedPostgres(fresh)
    await first.close()
  })

async function remove(directory: string): Promise<void> {
  const home = await realpath(join(directory, 'postgres')).catch(() => null)
  if (home) {
    const pid = await postmasterOf(directory)
    if (pid && isRunning(pid)) {
      process.kill(pid, 'SIGKILL')
      await waitUntil(() => !isRunning(pid))
    }
    // Backends of a killed postmaster leave a moment later.
    await rm(home, { recursive: true, force: true, maxRetries: 10 })
  }
  await rm(directory, { recursive: true, force: true, maxRetries: 10 })
}

/** The process id in the cluster's postmaster.pid, or null when there is none. */
export async function postmasterOf(directory: string): Promise<number | null> {
  const text = await readFile(join(directory, 'postgres/data/postmaster.pid'), 'utf8').catch(() => null)
  return text ? Number.parseInt(text, 10) : null
}

/** Whether a process lives (a zombie, which only waits to be counted, does not). */
export function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return /^[^Z]/.test(stdout)
}

/** Asks every 20 ms, for a minute at most. */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(20)) if (await condition()) return
  throw new Error(`not within a minute: ${condition}`)
}

/** Another process that uses the PostgreSQL of a directory. */
export interface Other {
  readonly child: ChildProcess
  /** Its output at the end: 'open', or the error. */
  readonly said: string
  /** Lets it close and waits for its end. */
  close(): Promise<void>
  /** Kills it as kill -9 does. */
  kill(): Promise<void>
}

/** Starts a process that opens the PostgreSQL of `directory`, as `user` if given (root only). */
export async function openElsewhere(directory: string, user?: { uid: number; gid: number }): Promise<Other> {
  const script = join(import.meta.dirname, 'embedded-child.ts')
  const options = [script, directory, ...(user ? [JSON.stringify(user)] : [])]
  const child = spawn(process.execPath, options, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const [said] = await once(createInterface(child.stdout), 'line')
  return {
    child,
    said,
    async close() {
      child.stdin.write('close\n')
      await ended
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

const NOBODY = { uid: 65_534, gid: 65_534 }

/** An ordinary user for a child process: nobody, where we are root and he may enter the clone; else the one we are. */
export const ordinaryUser = isRoot && (await mayEnterDirectory(NOBODY, import.meta.dirname)) ? NOBODY : undefined
