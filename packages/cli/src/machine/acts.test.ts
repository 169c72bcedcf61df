import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { replaceFile, runProgramQuietly } from './acts.ts'
import { checkPackageAndRootUser, waitUntilReady } from './checks.ts'

const folder = mkdtempSync(join(tmpdir(), 'rollcall-acts-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a file is replaced whole, and has its rights from the first byte on', () => {
  const path = join(folder, 'secret')
  replaceFile(path, 'one', 0o600)
  replaceFile(path, 'two', 0o600)
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['two', 0o600])
  const before = process.umask(0o077)
  replaceFile(path, 'three', 0o644)
  process.umask(before)
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['three', 0o644])
})

test('what a program that fails says is shown, and what it printed is not', () => {
  const script = 'process.stdout.write("token"); process.stderr.write("no room"); process.exit(3)'
  expect(() => runProgramQuietly([process.execPath, '-e', script])).toThrow(/ failed: no room$/)
  expect(() => runProgramQuietly(['/nowhere/program'])).toThrow('/nowhere/program failed: spawnSync /nowhere/program ENOENT')
})

test('without the Debian package there is no machine to set up', () => {
  expect(checkPackageAndRootUser).toThrow(
    'this command belongs to the Debian package of Rollcall, which is not installed on this machine',
  )
})

test('a node that does not become ready is named with its log', async () => {
  const server = createServer((_, response) => response.writeHead(503).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/ready`
  await expect(waitUntilReady(url, { unit: 'rollcall@8082', tries: 1 })).rejects.toThrow(
    `${url} does not give the expected answer: 503; journalctl --unit rollcall@8082 says what the node does`,
  )
  server.closeAllConnections()
  server.close()
})
