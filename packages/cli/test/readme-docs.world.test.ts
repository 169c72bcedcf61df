import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase } from '../../server/test/postgres.ts'
import { databaseUrl } from './command.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const page = await readFile(new URL('../../../README.md', import.meta.url), 'utf8')
const section = page.slice(page.indexOf('\n## Run it for real\n'))
const [commands = '', files = ''] = [...section.matchAll(/```sh\n(.*?)\n```/gs)].map(([, block]) => block)

let folder: string
let env: Record<string, string>
let drop: () => Promise<void>
beforeAll(async () => {
  const empty = await emptyDatabase()
  drop = empty.drop
  const { PATH = '', HOME = '' } = process.env
  env = { PATH, HOME, DATABASE_URL: databaseUrl(empty.connection), ROLLCALL_MASTER_KEY: 'ab'.repeat(32) }
  folder = await mkdtemp(join(tmpdir(), 'rollcall-readme-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
  await drop()
})

test('"Run it for real" of the README runs as it stands, up to the server', { timeout: 600_000 }, () => {
  const [, beforeServing = ''] = /^(.*)\nnpx rollcall serve$/s.exec(commands) ?? []
  expect(beforeServing).toContain('npx rollcall registry add')
  const npx = `npx() { shift; '${process.execPath}' '${MAIN}' "$@"; }`
  const script = ['set -e -o pipefail', npx, files, beforeServing].join('\n')
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: folder, env, encoding: 'utf8' })
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('client_secret')
  expect(stdout).toContain('1000 of 1000 records are in civil')
  expect(stdout).not.toMatch(/ broken /)
})
