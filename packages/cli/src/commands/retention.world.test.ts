import { expect, test } from 'vitest'
import { databaseUrl, rollcall, rollcallJson } from '../../test/command.ts'
import { commandDatabase } from '../../test/command-database.ts'

const { database, env, importPeople } = await commandDatabase()
const asOwner = { ...env, ROLLCALL_OWNER_DATABASE_URL: databaseUrl(database.owner) }

test('prune and erase need the owner, and say so', async () => {
  const dry = await rollcallJson(['prune', '--dry-run'], env)
  expect(dry).toMatchObject({ dry_run: true, accounts: { deleted: 0 } })
  expect(await rollcall(['prune'], env)).toMatchObject({
    code: 1,
    stderr: 'rollcall: the audit log belongs to another role: set ROLLCALL_OWNER_DATABASE_URL (docs/roles.md)\n',
  })
  expect(await rollcallJson(['prune'], asOwner)).toMatchObject({ dry_run: false })
  const ages = await rollcall(['prune', '--ages'], env)
  expect(ages.stdout).toMatch(/^accounts +1826 /m)
})

test('a record is printed, its person is held, and then erased', async () => {
  await rollcallJson(['registry', 'add', 'civil', '--sender-id', 'civil.example'], env)
  await importPeople([{ identifier: [{ identifier_type: 'UIN', identifier_value: '77' }] }])
  const [shown] = await rollcallJson(['record', 'get', 'civil', 'UIN=77'], env)
  expect(shown).toMatchObject({ record_type: 'Person', record: { identifier: [{ identifier_value: '77' }] } })

  const hold = await rollcallJson(['hold', 'add', '--person', 'UIN=77', '--reason', 'case 1'], env)
  const erase = ['erase', 'person', 'UIN', '77', '--reason', 'order 1']
  expect(await rollcall(erase, asOwner)).toMatchObject({
    code: 1,
    stderr: `rollcall: hold ${hold.id} covers this person: nothing is erased while it is in force\n`,
  })
  expect((await rollcall(['hold', 'list'], env)).stdout).toContain('case 1')
  await rollcallJson(['hold', 'remove', String(hold.id)], env)

  const { stdout } = await rollcall([...erase, '--dry-run'], env)
  expect(stdout).toMatch(/^nothing is erased; this would be:\naudit log: 3 pseudonyms in 2 entries/)
  // The look, which saw and asked, and the hold.
  expect(await rollcallJson(erase, asOwner)).toMatchObject({
    accounts: { entries: 2, rows: 3, held: 0 },
    records: [{ namespace: 'civil', record_type: 'Person' }],
  })
  expect(await rollcallJson(erase, asOwner)).toMatchObject({ accounts: { rows: 0 } })
})
