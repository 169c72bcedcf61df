import { createHash } from 'node:crypto'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listAuditEntries, listEmergencies, reviewEmergency } from '@rollcall/admin/audit/list'
import { auditPerson } from '@rollcall/admin/audit/person-accesses'
import { expect, test } from 'vitest'
import { auditing, personAs } from '../../../settings/test/audit.ts'
import { rollcall, rollcallJson } from '../../test/command.ts'
import { commandDatabase } from '../../test/command-database.ts'
import { described } from '../../test/described.ts'

const { env, home, database } = await commandDatabase()
await rollcallJson(['registry', 'add', 'civil'], env)
await rollcallJson(['participant', 'add', 'health.example', '--name', 'Health'], env)
const { addEntry, sign } = auditing(database)
await addEntry({ participant: 'health.example', purpose: 'eligibility', confidential: { requested_by: 'clerk-7' } }, [
  personAs('seen', 'UIN:1'),
])
await addEntry({ participant: 'health.example', outcomes: { 'rjct.x': 1 }, records: 0, shown: {} }, [personAs('asked', 'UIN:1')])
await addEntry(
  { participant: 'health.example', emergency: true, confidential: { reason: 'Unconscious patient' }, operation: 'emergency' },
  [personAs('seen', 'UIN:2')],
)

const BYTES = '{"header":{}}'
const digest = createHash('sha256').update(BYTES).digest('hex')
await addEntry({ request: { message_id: 'asked-1', digest, kid: 'k1', signature: 's' } })
await sign()

const printed = async (...words: string[]) => {
  const { code, stdout, stderr } = await rollcall(words, env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

test('audit person lists who has seen the data, and apart who has only asked', async () => {
  const text = await printed('audit', 'person', 'UIN', '1')
  const [, seen = '', written = '', asked = ''] = text.split('\n\n')
  expect(seen).toMatch(/^Has seen data: 1\n.*health\.example.*eligibility.*name/s)
  expect(written).toBe('Has written data: 0')
  expect(asked).toMatch(/^Has asked, and seen nothing: 2\n.*health\.example.*operator .*audit person/s)
  expect(text).not.toContain('clerk-7')
  expect(await printed('audit', 'person', 'UIN', '1', '--confidential')).toContain('clerk-7')
  const audit = described(auditPerson, await rollcallJson(['audit', 'person', 'UIN', '1'], env))
  expect(audit.seen).toHaveLength(1)
  expect(await printed('audit', 'person', 'UIN=1', '--to', '2020-01-01')).toContain('Has seen data: 0')
})

test('audit person --report writes a page and JSON of its owner alone, over no file', async () => {
  const file = join(home.path, 'answer.html')
  expect(await printed('audit', 'person', 'UIN', '1', '--report', file)).toContain(
    `written: ${file} to be read, ${join(home.path, 'answer.json')} for programs`,
  )
  expect(await readFile(file, 'utf8')).toContain('<td>Health (health.example)</td>')
  expect(JSON.parse(await readFile(join(home.path, 'answer.json'), 'utf8')).seen).toHaveLength(1)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const accesses = async () => (await printed('audit', 'list', '--json')).split('"audit person"').length - 1
  const before = await accesses()
  expect(before).toBeGreaterThan(0)
  const again = await rollcall(['audit', 'person', 'UIN', '1', '--report', file], env)
  expect(again).toMatchObject({ code: 1, stderr: `rollcall: ${file}: is there already\n` })
  // The JSON is there, and its page is not: nothing is read, and no page is written.
  await rm(file)
  const beside = await rollcall(['audit', 'person', 'UIN', '1', '--report', file], env)
  expect(beside).toMatchObject({ code: 1, stderr: `rollcall: ${join(home.path, 'answer.json')}: is there already\n` })
  await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
  const nowhere = join(home.path, 'nowhere', 'answer.html')
  const lost = await rollcall(['audit', 'person', 'UIN', '1', '--report', nowhere], env)
  expect(lost).toMatchObject({ code: 1, stderr: `rollcall: ${nowhere}: no such file or directory\n` })
  expect(await accesses()).toBe(before)
})

test('audit list has the newest entries', async () => {
  const list = described(listAuditEntries, await rollcallJson(['audit', 'list', '--kind', 'answer'], env))
  expect(list).toHaveLength(4)
  expect(await printed('audit', 'list', '--participant', 'health.example', '--limit', '1')).toMatch(/emergency/)
  expect(await printed('audit', 'list', '--participant', 'nobody.example')).toBe('no audit entry\n')
})

test('audit emergencies lists what nobody has reviewed', async () => {
  const waiting = described(listEmergencies, await rollcallJson(['audit', 'emergencies'], env))
  expect(waiting).toMatchObject([{ reason: 'Unconscious patient' }])
  expect(await printed('audit', 'emergencies')).toContain('reason: Unconscious patient')
  const words = ['audit', 'review', waiting[0].id, '--note', 'Checked with the ward']
  const review = described(reviewEmergency, await rollcallJson(words, env))
  expect(review.reviewed_by).not.toBe('')
  expect(await printed('audit', 'emergencies')).toBe('no emergency waits for a review\n')
  expect(await printed('audit', 'emergencies', '--reviewed')).toContain(': Checked with the ward\n')
  const { code, stderr } = await rollcall(['audit', 'review', 'x', '--note', 'y'], env)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'rollcall: id: must be that of an entry, a chain and a number with a dot between them\n',
  })
})

test('audit evidence writes what audit check verifies without a database', async () => {
  const [file, message, other] = ['evidence.json', 'message.json', 'other.json'].map((name) => join(home.path, name)) as [
    string,
    string,
    string,
  ]
  await writeFile(message, BYTES)
  await writeFile(other, '{}')
  expect(await printed('audit', 'evidence', 'asked-1', '--out', file)).toContain(`written: ${file}, signed with `)
  const { kid } = JSON.parse(await readFile(file, 'utf8'))
  const entries = async () => (await printed('audit', 'list', '--json')).split('"audit evidence"').length - 1
  const before = await entries()
  expect(before).toBeGreaterThan(0)
  expect(await rollcall(['audit', 'evidence', 'asked-1', '--out', file], env)).toMatchObject({
    code: 1,
    stderr: `rollcall: ${file}: is there already\n`,
  })
  expect(await entries()).toBe(before)
  const check = (...words: string[]) => rollcall(['audit', 'check', ...words], { ROLLCALL_DATA: join(home.path, 'nothing') })
  expect(await check(file, '--kid', kid, '--message', message)).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/request asked-1 {2}SHA-256 [0-9a-f]{64} {2}signed with k1\n.*the evidence holds\n$/s),
  })
  expect(await check(file, '--message', '/nowhere')).toMatchObject({
    code: 1,
    stderr: 'rollcall: the file /nowhere of --message cannot be read: no such file or directory\n',
  })
  expect(await check(file, '--message', other)).toMatchObject({
    code: 1,
    stderr: `rollcall: ${other}: no message of the evidence has these bytes\n`,
  })
  expect(await check(file, '--kid', 'x')).toMatchObject({ code: 1 })
  await writeFile(other, (await readFile(file, 'utf8')).replace('asked-1', 'asked-2'))
  expect(await check(other)).toMatchObject({ code: 1, stderr: 'rollcall: evidence: the signature does not verify\n' })
})
