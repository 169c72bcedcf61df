import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { revokeGrant, setGrant } from '@rollcall/admin/grants/grant-changes'
import { explainGrant, listExpiringGrants, listGrants } from '@rollcall/admin/grants/grants'
import { proposeGrant } from '@rollcall/admin/grants/proposal'
import { addParticipant } from '@rollcall/admin/participants/participants'
import { expect, test } from 'vitest'
import { auditing } from '../../../settings/test/audit.ts'
import { rollcall, rollcallJson } from '../../test/command.ts'
import { commandDatabase } from '../../test/command-database.ts'
import { described } from '../../test/described.ts'

const { env, home, database } = await commandDatabase()
await rollcallJson(['registry', 'add', 'civil'], env)
await rollcallJson(['participant', 'add', 'a.example', '--name', 'A'], env)
await rollcallJson(['purpose', 'add', 'eligibility'], env)

const grant = (...words: string[]) => rollcallJson(['grant', ...words], env)
const printed = async (...words: string[]) => {
  const { code, stdout, stderr } = await rollcall(words, env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}
const refusal = async (words: readonly string[], input = '') => {
  const { code, stdout, stderr } = await rollcall(words, env, input)
  expect(stdout).toBe('')
  return { code, stderr }
}
const file = async (name: string, text: string): Promise<string> => {
  const path = join(home.path, name)
  await writeFile(path, text)
  return path
}

const GRANT = `operations: [search]
identifier_types: [UIN]
see: [identifier, surname, birth_date]
basis: consent
purposes: [eligibility]
`

test('participant add says that nothing is granted, and takes grants from a file', async () => {
  expect(await printed('participant', 'add', 'b.example', '--name', 'B')).toContain(
    'Nothing is granted yet: every request is refused until rollcall grant set b.example <namespace> ...\n',
  )
  const grants = await file('grants.yaml', `civil:\n${GRANT.replaceAll(/^/gm, '  ').trimEnd()}\n`)
  const words = ['participant', 'add', 'c.example', '--name', 'C', '--grant', grants]
  expect(described(addParticipant, await rollcallJson(words, env)).granted).toEqual(['civil'])
  expect(await grant('list', '--participant', 'c.example')).toMatchObject([{ namespace: 'civil' }])
})

test('with a wrong grant no participant is added', async () => {
  const wrong = await file('wrong.yaml', 'civil:\n  operations: [search]\n  see: [shoe_size]\n  basis: law\n')
  const words = ['participant', 'add', 'd.example', '--name', 'D', '--grant', wrong]
  expect(await refusal(words)).toEqual({
    code: 1,
    stderr: `rollcall: ${wrong} line 3: civil.see: shoe_size is no attribute, relation or member of Person\n`,
  })
  const nowhere = await file('nowhere.json', '{"nowhere": {"operations": "all", "see": "all", "basis": "law"}}')
  expect(await refusal([...words.slice(0, -1), nowhere])).toEqual({
    code: 1,
    stderr: 'rollcall: there is no registry at nowhere; rollcall registry list shows those there are\n',
  })
  expect(JSON.stringify(await rollcallJson(['participant', 'list'], env))).not.toContain('d.example')
})

test('set, list, show, explain and revoke', async () => {
  const path = await file('grant.yaml', GRANT)
  const { suspended, ...set } = described(setGrant, await grant('set', 'a.example', 'civil', '--file', path))
  expect(suspended).toBe(0)
  expect(set.terms).toMatchObject({ identifier_types: ['UIN'], basis: 'consent' })
  expect(described(listGrants, await grant('list', '--namespace', 'civil'))).toContainEqual(set)
  expect(described(listGrants, await grant('show', 'a.example', 'civil'))).toEqual([set])

  const shown = await printed('grant', 'show', 'a.example', 'civil')
  expect(shown).toMatch(/^# version \d+, from /)
  await file('again.yaml', shown)
  const again = await grant('set', 'a.example', 'civil', '--file', join(home.path, 'again.yaml'))
  expect(again.terms).toEqual(set.terms)

  const explained = described(explainGrant, await grant('explain', 'a.example', 'civil'))
  expect(explained).toMatchObject({
    identifier_types: ['UIN'],
    asks: { Person: [] },
    sees: { Person: ['surname', 'birth_date'] },
    sees_everything: false,
  })
  expect(explained.sees_not.Person).toContain('given_name')
  const text = await printed('grant', 'explain', 'a.example', 'civil')
  expect(text).toMatch(/^operations +search$/m)
  expect(text).toMatch(/^may see: Person +surname, birth_date$/m)
  expect(text).toMatch(/^may see also +identifier$/m)
  expect(text).toMatch(/^basis +consent, for eligibility$/m)

  expect(described(revokeGrant, await grant('revoke', 'a.example', 'civil'))).toMatchObject({ revoked: 1 })
  expect(await grant('list', '--participant', 'a.example')).toEqual([])
})

test('a template, and grants of other times beside it', async () => {
  const template = ['--template', 'eligibility']
  const { terms } = await grant('set', 'a.example', 'civil', ...template)
  expect(terms).toMatchObject({ operations: ['search', 'txn-status'], basis: 'law' })
  const until = { ...terms, valid_until: '2099-01-01T00:00:00Z' }
  await grant('set', 'a.example', 'civil', '--file', await file('until.json', JSON.stringify(until)))
  const later = { ...terms, valid_from: '2099-01-01T00:00:00Z', counts: 'none' }
  const beside = ['--beside', '--file', await file('later.json', JSON.stringify(later))]
  await grant('set', 'a.example', 'civil', ...beside)
  expect(await grant('list', '--participant', 'a.example')).toHaveLength(2)
  expect(described(listExpiringGrants, await grant('expiring', '--days', '36500'))).toMatchObject([
    { sender_id: 'a.example', valid_until: '2099-01-01T00:00:00.000Z' },
  ])
  expect(await printed('grant', 'expiring')).toBe('no grant ends within 30 days\n')
  const { stderr } = await refusal(['grant', 'set', 'a.example', 'civil', ...beside])
  expect(stderr).toMatch(/overlaps grant \d+; at any time a participant has one grant in a registry\n$/)
  await grant('revoke', 'a.example', 'civil')
})

test.each([
  ['operations: [search]\nsee: all\nbasis: law\nseee: []\n', 'line 4: seee: is not a known member'],
  ['operations: [search]\nsee: all\n', 'line 1: basis: is required'],
  ['operations: [fly]\nsee: all\nbasis: law\n', 'line 1: operations: this registry has no fly'],
  ['operations: all\nsee: all\nbasis: law\nask: [age]\n', 'line 4: ask: age needs birth_date beside it'],
  [
    'operations: all\nsee: all\nbasis: law\nrows:\n  Person:\n    age: {lt: 3}\n',
    'line 5: rows.Person: asks for age, which changes from day to day; ask for birth_date',
  ],
  ['operations: [search]\nsee: [identifier]\nbasis: consent\n', 'line 1: purposes: must name one at least for basis consent'],
  [
    'operations: all\nsee: all\nbasis: law\nvalid_until: 2001-01-01T00:00:00Z\n',
    'line 4: valid_until: must be later than valid_from, and than now',
  ],
  ['operations: all\nsee: all\nsee: []\nbasis: law\n', 'line 3: Map keys must be unique'],
  ['operations: [\n', 'line 2: Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ['', 'line 1: must be an object'],
])('a wrong file is refused with its line: %j', async (text, message) => {
  expect(await refusal(['grant', 'set', 'a.example', 'civil', '--file', '-'], text)).toEqual({
    code: 1,
    stderr: `rollcall: - ${message}\n`,
  })
})

test.each([
  [['set', 'a.example', 'civil'], '--file or --template is needed'],
  [
    ['set', 'a.example', 'nowhere', '--template', 'everything'],
    'there is no registry at nowhere; rollcall registry list shows those there are',
  ],
  [['set', 'nobody', 'civil', '--template', 'everything'], 'no participant has sender_id nobody'],
  [['show', 'b.example', 'civil'], 'b.example has no grant in civil'],
  [['revoke', 'b.example', 'civil'], 'b.example has no grant in civil'],
  [['explain', 'b.example', 'civil'], 'b.example has no grant in force in civil: it may do nothing there'],
  [['list', '--participant', 'nobody'], 'no participant has sender_id nobody'],
])('refused: grant %j', async (words, message) => {
  expect(await refusal(['grant', ...words])).toEqual({ code: 1, stderr: `rollcall: ${message}\n` })
})

test('propose prints a narrower grant, which set takes', async () => {
  await rollcallJson(['participant', 'add', 'user.example', '--name', 'User'], env)
  await grant('set', 'user.example', 'civil', '--template', 'everything')
  expect(await refusal(['grant', 'propose', 'user.example', 'civil', '--days', '7'])).toEqual({
    code: 1,
    stderr: 'rollcall: user.example has used nothing in civil in 7 days of the audit log: rollcall grant revoke ends the grant\n',
  })
  const { addEntry } = auditing(database)
  await addEntry({ participant: 'user.example', shown: { Person: ['birth_date', 'name.surname'] } })
  const text = await printed('grant', 'propose', 'user.example', 'civil')
  expect(text).toMatch(/^# A narrower grant of user\.example in civil, proposed from 1 audit entries since /)
  expect(text).toMatch(/^# The participant used its grant on 1 of these days\./m)
  expect(text).toMatch(/^# Left out of operations: .*subscribe/m)
  await grant('set', 'user.example', 'civil', '--file', await file('proposed.yaml', text))
  const proposal = described(proposeGrant, await grant('propose', 'user.example', 'civil'))
  expect(proposal.terms.see.toSorted()).toEqual(['birth_date', 'surname'])
  expect(described(explainGrant, await grant('explain', 'user.example', 'civil')).sees.Person.toSorted()).toEqual([
    'birth_date',
    'surname',
  ])
})
