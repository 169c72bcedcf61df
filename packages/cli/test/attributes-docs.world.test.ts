import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase } from '../../server/test/postgres.ts'
import { databaseUrl } from './command.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const page = await readFile(new URL('../../../docs/attributes-and-indexes.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/```sh\n(.*?)\n```/gs)].map(([, block]) => block ?? '')

let folder: string
let env: Record<string, string>
let drop: () => Promise<void>
beforeAll(async () => {
  const empty = await emptyDatabase()
  drop = empty.drop
  const { PATH = '', HOME = '' } = process.env
  env = { PATH, HOME, DATABASE_URL: databaseUrl(empty.connection), ROLLCALL_MASTER_KEY: 'ab'.repeat(32) }
  folder = await mkdtemp(join(tmpdir(), 'rollcall-attributes-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
  await drop()
})

test('docs/attributes-and-indexes.md runs as it stands', { timeout: 600_000 }, async () => {
  const printed: string[] = []
  for (const block of blocks) {
    const script = `set -e -o pipefail\nrollcall() { '${process.execPath}' '${MAIN}' "$@"; }\n${block}`
    const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    expect({ block, status, stderr: status === 0 ? '' : stderr }).toEqual({ block, status: 0, stderr: '' })
    printed.push(stdout)
  }
  const all = printed.join('')
  expect(all).toContain('the time zone of civil is Asia/Kathmandu')
  expect(all).toContain('added street of Person in civil; its records have no value in it yet')
  expect(all).toContain('civil: filled Person.street')
  expect(all).toContain('everything declared is there, and no slow search asked for more')
  expect(all).toContain('civil: built r1_person_marital_status_index')
  expect(all).toMatch(/^Asked of Person\n {2}and\n {4}marital_status eq \?\n {4}postal_code starts_with \?$/m)
  expect(all).toContain('2 of 2 records are deleted from civil')
  const explained = JSON.parse(await readFile(join(folder, 'explained.json'), 'utf8'))
  expect(explained).toMatchObject({ record_type: 'Person', values: null, advice: [] })
  expect(explained.plan.text).toContain('actual')
})
