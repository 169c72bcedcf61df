import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// The tests bring their own PostgreSQL and ports, whatever the environment of `npm test` says.
for (const name of [
  ...['PORT', 'HOST', 'ADMIN_PORT', 'ROLLCALL_DATA', 'DATABASE_URL'],
  ...['ROLLCALL_MASTER_KEY', 'ROLLCALL_NEW_MASTER_KEY'],
]) {
  delete process.env[name]
}

export default defineConfig({
  test: {
    include: [
      ...['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
      ...['examples/**/*.test.ts', 'test/**/*.test.ts'],
    ],
    // Many tests wait for a process, a clock or the disk: on two cores one worker, as Vitest would have it, is idle half of the time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    globalSetup: ['packages/server/test/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
