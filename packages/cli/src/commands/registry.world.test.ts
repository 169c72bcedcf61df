import { expect, test } from 'vitest'
import { rollcall, rollcallJson } from '../../test/command.ts'
import { commandDatabase } from '../../test/command-database.ts'

const { database, env } = await commandDatabase()

interface Person {
  readonly primary_identifier: string
  readonly identifier: readonly { readonly identifier_type: string; readonly identifier_value: string }[]
}

const records = async (namespace: string): Promise<readonly Person[]> => {
  const { rows } = await database.db.pool.query('select id from registry where namespace = $1', [namespace])
  const [{ id } = { id: 0 }] = rows
  const found = await database.db.pool.query(
    `select primary_identifier, document::jsonb -> 'identifier' as identifier from r${id}_person order by id`,
  )
  return found.rows
}

test('a sandbox with --primary has people who are known by it, and who live on by it', async () => {
  const words = ['registry', 'add', 'civil-test', '--sandbox', '--people', '40', '--primary', 'NID']
  expect(await rollcallJson(words, env)).toMatchObject({
    namespace: 'civil-test',
    environment: 'sandbox',
    records: 40,
    primary_identifiers: { Person: 'NID' },
  })
  const people = await records('civil-test')
  expect(people).toHaveLength(40)
  for (const { primary_identifier, identifier } of people) {
    const own = identifier.filter(({ identifier_type }) => identifier_type === 'NID')
    expect(own).toMatchObject([{ identifier_value: primary_identifier }])
    expect(identifier.some(({ identifier_type }) => identifier_type === 'UIN')).toBe(false)
  }
  const simulated = await rollcall(['simulate', 'civil-test', '--count', '20', '--rate', 'unlimited', '--seed', 's'], env)
  expect(simulated).toMatchObject({ code: 0, stderr: '' })
  expect(simulated.stdout).toMatch(/20 events in all\n$/)
  const before = new Set(people.map(({ primary_identifier }) => primary_identifier))
  const after = await records('civil-test')
  expect(after.filter(({ primary_identifier }) => before.has(primary_identifier))).toHaveLength(40)
})

test('a registry that is not there is answered with the nearest', async () => {
  const hint = 'there is no registry at civil-tset; the nearest is civil-test'
  for (const words of [
    ['simulate', 'civil-tset'],
    ['registry', 'set', 'civil-tset', '--majority', '20'],
    ['registry', 'remove', 'civil-tset', '--yes'],
    ['index', 'plan', 'civil-tset'],
  ]) {
    const { code, stdout, stderr } = await rollcall(words, env)
    expect({ words, code, stdout }).toEqual({ words, code: 1, stdout: '' })
    expect(stderr.startsWith(`rollcall: ${hint}`), stderr).toBe(true)
  }
})
