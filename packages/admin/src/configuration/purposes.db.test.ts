import { expect, test } from 'vitest'
import { configurationDatabase, withA } from '../../test/configuration.ts'
import { exportConfiguration } from './apply.ts'

const { deps, apply, changes, refusal } = await configurationDatabase()
const GRANT = { operations: ['search'], see: ['identifier'], basis: 'consent', purposes: ['appeal'] } as const
const withConsent = { ...withA({ name: 'A', grants: { civil: GRANT } }), registries: { civil: { kind: 'civil' } } }
const ELIGIBILITY = { text: 'Benefits' }

test('purposes of the file are all that there are, with their texts', async () => {
  expect(await changes({ version: 1, purposes: { eligibility: {}, appeal: {}, audit: {} } })).toEqual([
    'add purposes.eligibility',
    'add purposes.appeal',
    'add purposes.audit',
  ])
  expect(await changes({ version: 1, purposes: { eligibility: ELIGIBILITY, appeal: {} } })).toEqual([
    'change purposes.eligibility',
    'remove purposes.audit',
  ])
  expect(await changes({ version: 1, purposes: { eligibility: ELIGIBILITY, appeal: {} } })).toEqual([])
  expect((await exportConfiguration(deps, {})).purposes).toEqual({ appeal: { text: null }, eligibility: ELIGIBILITY })
})

test('purposes are named by grants, and are not taken away from them', async () => {
  expect(await refusal({ ...withConsent, purposes: { eligibility: {} } })).toEqual({
    message:
      'participants["a.example"].grants.civil.purposes: appeal is no configured purpose; rollcall purpose add, or the member purposes of the configuration file, makes one',
    at: ['participants', 'a.example', 'grants', 'civil', 'purposes'],
  })
  await apply(withConsent)
  expect(await refusal({ version: 1, purposes: { eligibility: {} } })).toEqual({
    message: 'purposes: a grant of a.example names appeal; change it in the same file',
    at: ['purposes'],
  })
  const narrowed = withA({ grants: { civil: { ...GRANT, purposes: ['eligibility'] } } })
  expect(await changes({ ...narrowed, purposes: { eligibility: {} } })).toEqual([
    'change purposes.eligibility',
    'change participants["a.example"].grants.civil',
    'remove purposes.appeal',
  ])
})

test.each([
  ['two words', {}, 'purposes["two words"]: code: must have 1 to 100 characters: letters, digits and . : / _ -'],
  ['appeal', { text: ' ' }, 'purposes.appeal: text: must have 1 to 500 characters'],
])('the purpose %j with %j is refused', async (code, entry, message) => {
  expect((await refusal({ version: 1, purposes: { [code]: entry } })).message).toBe(message)
})
