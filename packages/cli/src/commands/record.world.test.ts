import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rollcall, rollcallJson } from '../../test/command.ts'
import { commandDatabase } from '../../test/command-database.ts'

const { database, env, home, importPeople } = await commandDatabase()
await rollcallJson(['registry', 'add', 'civil'], env)
await importPeople(
  Array.from({ length: 10 }, (_, at) => ({
    identifier: [{ identifier_type: 'UIN', identifier_value: `U${at}` }],
    name: { given_name: 'Secret' },
  })),
)

const left = async () => {
  const { rows } = await database.db.pool.query('select count(*) as count from r1_person')
  return rows[0].count
}

test('records named by identifiers and in a file are deleted; each leaves a tombstone and nothing else', async () => {
  const file = join(home.path, 'leavers.txt')
  await writeFile(file, 'U2\r\n\n u3 \nU2\n')
  const words = ['record', 'delete', 'civil', 'Person']
  expect(await rollcallJson([...words, 'U1', 'U77', '--file', file], env)).toEqual({
    namespace: 'civil',
    record_type: 'Person',
    asked: 4,
    deleted: 3,
  })
  expect(await left()).toBe(7)
  const { rows } = await database.db.pool.query('select * from record_tombstone order by record')
  const tombstone = { registry: 1, record_type: 'Person', deleted_at: expect.any(Date) }
  expect(rows).toEqual(['U1', 'U2', 'U3'].map((primary_identifier, at) => ({ ...tombstone, record: at + 2, primary_identifier })))
  const { stdout } = await rollcall([...words, 'U1', 'U4'], env)
  expect(stdout).toBe('1 of 2 records are deleted from civil; 1 were not there\n')
})

test('a record is merged into another one, and that is taken back', async () => {
  const words = (...more: string[]) => ['record', ...more]
  const result = { namespace: 'civil', record_type: 'Person', notified: 0 }
  expect(await rollcallJson(words('merge', 'civil', 'UIN=U8', 'UIN=u9'), env)).toEqual(result)
  const { rows } = await database.db.pool.query('select primary_identifier from retired_record')
  expect(rows).toEqual([{ primary_identifier: 'U9' }])
  const { stdout } = await rollcall(words('unmerge', 'civil', 'UIN=U9', '--record-type', 'Person'), env)
  expect(stdout).toBe('the merge is taken back: 0 subscriptions notified\n')
  const bad = await rollcall(words('merge', 'civil', 'UIN=U8', 'U9'), env)
  expect(bad).toEqual({ code: 1, stdout: '', stderr: 'rollcall: <retired> must be a type and a value, such as UIN=8128560370\n' })
})

test.each([
  ['nothing named', ['civil', 'Person'], 'name the records: by identifiers, or with --file'],
  ['what is no identifier', ['civil', 'Person', 'U5', ' '], 'nothing is deleted: identifier number 2 is not a valid UIN'],
  ['a file that is not there', ['civil', 'Person', '--file', '/nowhere'], 'the file /nowhere cannot be read'],
  ['a registry that is not there', ['nowhere', 'Person', 'U5'], 'there is no registry at nowhere'],
  ['a record type that is not there', ['civil', 'Farmer', 'U5'], 'the registry has no record type "Farmer"'],
])('%s: exit code 1, one line, and nothing is deleted', async (_, words, message) => {
  const before = await left()
  const { code, stdout, stderr } = await rollcall(['record', 'delete', ...words], env)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(`rollcall: ${message}`)
  expect(stderr.trimEnd()).not.toContain('\n')
  expect(await left()).toBe(before)
})
