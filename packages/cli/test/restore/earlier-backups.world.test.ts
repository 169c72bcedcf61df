/**
 * Backups that earlier versions made, and one of this version: each is restored, its audit log verifies, and what waited in it is
 * sent. README.md says how they are made.
 */
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { BACKUP_FIXTURES, BACKUP_MASTER_KEY, writeBackupFixture } from '../../../../build/backup-fixture.ts'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { databaseUrl, dataDirectory, printed, rollcall, rollcallJson, runInHost, start } from '../command.ts'

const TODAY = join(import.meta.dirname, '../../../..')
/** A year, in seconds: the longest time for which a message is stored. An older fixture has nothing to send. */
const LONGEST = 31_536_000

const home = await dataDirectory()
const today = join(home.path, 'today.backup')
/** Actions of the messages that came. */
const came: string[] = []
const receiver = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  const { header } = JSON.parse(text) as { readonly header: { readonly action: string } }
  came.push(header.action)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ message: { ack_status: 'ACK', timestamp: new Date().toISOString() } }))
})
beforeAll(async () => {
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening))
  await writeBackupFixture(inject('programs').rollcall, today, async (words, env, input) => {
    const { code, stdout, stderr } = await runInHost({ words, env, input, cwd: undefined })
    expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' })
    return stdout
  })
})
afterAll(async () => {
  receiver.closeAllConnections()
  receiver.close()
  await home.remove()
})

const fixtures = readdirSync(BACKUP_FIXTURES).map((name) => join(BACKUP_FIXTURES, name))
test('every release has a backup', async () => {
  const changelog = await readFile(join(TODAY, 'CHANGELOG.md'), 'utf8')
  const released = [...changelog.matchAll(/^## ([0-9]\S*)/gm)].map(([, version]) => `${version}.backup`)
  const names = fixtures.map((file) => basename(file))
  expect(names).toEqual(expect.arrayContaining(['f99e0f5e.backup', ...released]))
})

describe.each([...fixtures, today].map((file) => ({ name: basename(file), file })))('$name', ({ file }) => {
  let database: Awaited<ReturnType<typeof emptyDatabase>>
  let env: Readonly<Record<string, string>>
  beforeAll(async () => {
    database = await emptyDatabase()
    env = {
      DATABASE_URL: databaseUrl({ ...inject('application'), database: database.connection.database }),
      ROLLCALL_OWNER_DATABASE_URL: databaseUrl(database.connection),
      ROLLCALL_MASTER_KEY: BACKUP_MASTER_KEY,
      ROLLCALL_EXCHANGE_RETENTION: String(LONGEST),
      ROLLCALL_NOTIFICATION_RETENTION: String(LONGEST),
      ADMIN_PORT: '0',
      LOG_LEVEL: 'warn',
    }
  })
  afterAll(() => database.drop())

  test('is restored, with its registry, records, participant and audit log', async () => {
    const restored = await rollcallJson(['restore', file, '--without-journal', 'a test'], env)
    expect(restored).toMatchObject({ journal: null, undone: [], left_out: [] })
    const auditLog = await rollcallJson(['audit', 'verify'], env)
    expect(auditLog).toMatchObject({ good: true })
    expect(await rollcallJson(['registry', 'list'], env)).toMatchObject([
      { namespace: 'civil', sender_id: 'civil.example', reg_type_aliases: [], web_origins: [], records: { Person: 2 } },
    ])
    expect(await rollcallJson(['record', 'get', 'civil', 'UIN', 'P-1'], env)).toMatchObject([
      { record: { name: { surname: 'Okoro' } } },
    ])
    expect(await rollcallJson(['keys', 'list'], env)).not.toEqual([])
    const findings = await rollcallJson(['doctor'], env)
    expect(findings.filter(({ state }: { state: string }) => state === 'broken')).toEqual([])
  })

  test('sends what waited in it, once it is released', async () => {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    await rollcallJson(['participant', 'callback', 'spmis.example', '--default-url', url, '--notify-url', url], env)
    const server = start(['serve', '--json'], env)
    try {
      await printed(server, /^.*\n/)
      came.length = 0
      await rollcallJson(['restore', 'release'], env)
      const { stdout } = await rollcall(['backup', 'check', file, '--json'], env)
      if (Date.parse(JSON.parse(stdout).snapshot_at) < Date.now() - LONGEST * 1_000) return
      await expect.poll(() => [...new Set(came)].sort(), { timeout: 240_000 }).toEqual(['notify', 'on-search', 'on-subscribe'])
    } finally {
      await server.stop()
    }
  })
})
