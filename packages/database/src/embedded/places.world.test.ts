import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { lstat, mkdir, readdir, readFile, realpath, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  isRoot,
  openElsewhere,
  ordinaryUser,
  postmasterOf,
  query,
  startedDirectory,
  temporaryDirectory,
} from '../../test/embedded.ts'
import { openEmbeddedPostgres } from './postgres.ts'

test('a path that is too long for a socket gets one among the temporary files, and takes it away again', async () => {
  const directory = join(await temporaryDirectory(), 'a'.repeat(60), 'b'.repeat(60))
  const first = await openEmbeddedPostgres(directory)
  onTestFinished(() => rm(directory, { recursive: true }))
  const host = String(first.connection.host)
  expect(basename(host)).toMatch(/^rollcall-socket-/)
  expect((await lstat(host)).mode & 0o777).toBe(0o700)
  expect(await query(first.connection, 'select 1 as one')).toEqual([{ one: 1 }])
  // Killed and brought back, it listens in the same place.
  const pid = Number(await postmasterOf(directory))
  process.kill(pid, 'SIGKILL')
  await expect.poll(() => postmasterOf(directory)).not.toBeOneOf([pid, null])
  const borrower = await openEmbeddedPostgres(directory)
  expect(borrower.connection.host).toBe(host)
  await borrower.close()
  await first.close()
  await expect(lstat(host)).rejects.toMatchObject({ code: 'ENOENT' })
})

// Only root has to become somebody else. Whoever else runs the tests may enter every directory that he makes.
test('where PostgreSQL may not enter the data directory, the cluster lies elsewhere', async () => {
  const directory = await temporaryDirectory(0o700)
  const data = join(directory, 'data with space')
  const first = await openEmbeddedPostgres(data)
  const home = await realpath(join(data, 'postgres'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  expect(await query(first.connection, 'select 1 as one')).toEqual([{ one: 1 }])
  await first.close()
  expect(await readdir(data)).toEqual(['postgres'])
  expect((await lstat(join(data, 'postgres'))).isSymbolicLink()).toBe(isRoot)
  if (isRoot) expect(home).toMatch(/^\/var\/lib\/rollcall\/[0-9a-f]{16}$/)

  const second = await openEmbeddedPostgres(data)
  expect(second.connection).toEqual(first.connection)
  await second.close()

  if (!isRoot) return
  await rm(home, { recursive: true })
  await expect(openEmbeddedPostgres(data)).rejects.toThrow(/points to \/var\/lib\/rollcall\/.* and that is gone/)
})

test('an ordinary user gets it too; others, root apart, do not get in', async () => {
  const directory = await temporaryDirectory(0o777)
  const user = await openElsewhere(directory, ordinaryUser)
  expect(user.said).toBe('open')
  // Root borrows it, and later starts it, as the user whose it is.
  const borrower = await openEmbeddedPostgres(directory)
  await user.close()
  await borrower.close()
  const again = await openEmbeddedPostgres(directory)
  await again.close()
  const back = await openElsewhere(directory, ordinaryUser)
  expect(back.said).toBe('open')
  await back.close()
  if (!ordinaryUser) return
  const stranger = await openElsewhere(directory, { uid: 12345, gid: 12345 })
  expect(stranger.said).toMatch(/belongs to another user. Start Rollcall as that user/)
})

test('lock files of a process id that now belongs to something else do not hinder', async () => {
  const directory = await startedDirectory()
  const home = await realpath(join(directory, 'postgres'))
  // Same user as PostgreSQL's: this is where PostgreSQL itself would refuse.
  const { uid, gid } = await lstat(join(home, 'data'))
  const stranger = spawn('sleep', ['60'], { ...(isRoot ? { uid, gid } : {}), cwd: '/' })
  onTestFinished(() => void stranger.kill())
  await once(stranger, 'spawn')
  const text = [stranger.pid, `${home}/data`, 1_700_000_000, 5432, home, '', '1 1', 'ready', ''].join('\n')
  await writeFile(join(home, 'data/postmaster.pid'), text)
  await writeFile(join(home, '.s.PGSQL.5432.lock'), text)
  const next = await openEmbeddedPostgres(directory)
  expect(await query(next.connection, 'select 1 as one')).toEqual([{ one: 1 }])
  expect(await postmasterOf(directory)).not.toBe(stranger.pid)
  await next.close()
})

test('a PostgreSQL that answers but is out of sight, as in another container, is left alone', async () => {
  const directory = await startedDirectory()
  const home = await realpath(join(directory, 'postgres'))
  const { pid } = spawnSync('true')
  const text = [pid, `${home}/data`, 1_700_000_000, 5432, home, '', '1 1', 'ready', ''].join('\n')
  await writeFile(join(home, 'data/postmaster.pid'), text)
  const other = createServer((socket) => socket.on('error', () => undefined).destroy())
  onTestFinished(() => void other.close())
  await once(other.listen(join(home, '.s.PGSQL.5432')), 'listening')
  await expect(openEmbeddedPostgres(directory)).rejects.toThrow(/that this process cannot see.*Stop it first/)
  expect(await readFile(join(home, 'data/postmaster.pid'), 'utf8')).toBe(text)
})

test('an empty lock file, as a power cut leaves it, and a log that has grown too long do not hinder', async () => {
  const directory = await startedDirectory()
  const lock = join(directory, 'postgres/data/postmaster.pid')
  await writeFile(lock, '')
  await utimes(lock, new Date(0), new Date(0))
  const log = join(directory, 'postgres/postgres.log')
  await truncate(log, 10_000_001)
  const next = await openEmbeddedPostgres(directory)
  expect((await lstat(`${log}.1`)).size).toBe(10_000_001)
  expect((await lstat(log)).size).toBeLessThan(10_000)
  await next.close()
})

test('a first start that was killed half-way leaves nothing that hinders the next', async () => {
  const directory = await temporaryDirectory()
  const { pid } = spawnSync('true')
  const elsewhere = join(dirname(directory), 'rollcall-0123456789abcdef')
  await mkdir(join(directory, `postgres.new-${pid}-00000001`, 'data'), { recursive: true })
  await mkdir(join(elsewhere, 'data'), { recursive: true })
  await symlink(elsewhere, join(directory, `postgres.new-${pid}-00000002`))
  await writeFile(join(directory, 'demo.json'), '{}')

  const killed = openElsewhere(directory)
  killed.catch(() => undefined)
  await expect.poll(() => readdir(directory)).toContainEqual(expect.stringMatching(/new-(?!\d+-0000000)/))
  const half = await readdir(directory)
  expect(half).not.toContain('postgres')
  const maker = half.find((name) => name.startsWith('postgres.new-') && !/0000000[12]$/.test(name))
  process.kill(Number(/new-(\d+)/.exec(maker ?? '')?.[1]), 'SIGKILL')

  const next = await openEmbeddedPostgres(directory)
  await next.close()
  await expect
    .poll(async () => {
      await (await openEmbeddedPostgres(directory)).close()
      return (await readdir(directory)).sort()
    })
    .toEqual(['demo.json', 'postgres'])
  await expect(lstat(elsewhere)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a cluster of another PostgreSQL, and what is no cluster, are left alone', async () => {
  const directory = await startedDirectory()
  const version = join(directory, 'postgres/data/PG_VERSION')
  const major = await readFile(version, 'utf8')
  await writeFile(version, '17\n')
  await expect(openEmbeddedPostgres(directory)).rejects.toThrow(
    /was made by PostgreSQL 17, and the installed one is 18.*log file is \/.*postgres.log/,
  )
  await writeFile(version, major)
  await (await openEmbeddedPostgres(directory)).close()

  await writeFile(join(directory, 'postgres/password'), 'not it')
  await expect(openEmbeddedPostgres(directory)).rejects.toThrow(/does not accept the password in \/.*\/password/)
  expect(await postmasterOf(directory)).toBeNull()
  await rm(join(directory, 'postgres/data/global/pg_control'))
  await expect(openEmbeddedPostgres(directory)).rejects.toThrow(/did not start \(.*pg_control.*postgres.log/s)

  const other = await temporaryDirectory()
  await mkdir(join(other, 'postgres'))
  await writeFile(join(other, 'postgres/notes.txt'), 'mine')
  await expect(openEmbeddedPostgres(other)).rejects.toThrow(/is not a PostgreSQL cluster that Rollcall made/)
  expect(await readdir(other)).toEqual(['postgres'])
})
