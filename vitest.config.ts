import { availableParallelism, tmpdir } from 'node:os'
import { defineConfig } from 'vitest/config'
import { memoryFolder } from './packages/server/test/memory-folder.ts'
import { useRunFolder } from './test/run-folder.ts'
import { SkippedReporter } from './test/skipped-reporter.ts'

// The tests bring their own PostgreSQL and ports, whatever the environment of `npm test` says.
for (const name of [
  ...['PORT', 'HOST', 'ADMIN_PORT', 'ROLLCALL_DATA', 'DATABASE_URL'],
  ...['ROLLCALL_MASTER_KEY', 'ROLLCALL_MASTER_KEY_COMMAND', 'ROLLCALL_NEW_MASTER_KEY'],
]) {
  delete process.env[name]
}
// Their files need not survive them.
useRunFolder(process.env.TMPDIR ?? memoryFolder() ?? tmpdir())

const FOLDERS = ['packages/*/src', 'packages/*/test', 'examples', 'test']
const named = (suffix: string): string[] => FOLDERS.map((folder) => `${folder}/**/*${suffix}`)
const DB = named('.db.test.ts')
const WORLD = named('.world.test.ts')
const POSTGRES = 'packages/database/test/global-setup.ts'
const MARIADB = 'packages/source/test/mariadb-setup.ts'
const PROGRAMS = 'packages/cli/test/built-programs.ts'

/** CONTRIBUTING.md says which test belongs to which lane. */
export default defineConfig({
  test: {
    // Many tests wait for a process, a clock or the disk: a worker is idle nearly half of the time.
    maxWorkers: availableParallelism() + 1,
    // One set of modules for all files of a worker: loading them anew for each took most of the time of unit tests.
    isolate: false,
    reporters: ['default', new SkippedReporter()],
    setupFiles: ['test/property-seed.ts'],
    // These end what hangs, and assert nothing: on a busy machine everything takes many times as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      { extends: true, test: { name: 'unit', include: named('.test.ts'), exclude: [...DB, ...WORLD] } },
      {
        extends: true,
        // Most code of these tests runs a few times: the optimising compiler takes a tenth of their time, and gives little back.
        test: { name: 'db', include: DB, globalSetup: [POSTGRES, MARIADB], execArgv: ['--no-opt'] },
      },
      {
        extends: true,
        // Processes of their own, and browsers, take their time.
        test: {
          name: 'world',
          include: WORLD,
          globalSetup: [POSTGRES, MARIADB, PROGRAMS],
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
})
