import { KINDS, kindNamed } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { recordTypeOfRootField } from './graphql.ts'

function root(kind: string, name: string): string {
  const known = kindNamed(kind)
  if (known === undefined) throw new Error(kind)
  return recordTypeOfRootField(known, name, 'q').name
}

describe('root fields', () => {
  it.each([
    ['civil', 'person', 'Person'],
    ['civil', 'Person', 'Person'],
    ['civil', 'persons', 'Person'],
    ['civil', 'people', 'Person'],
    ['civil', 'crvs_person', 'Person'],
    ['civil', 'CRVS_Persons', 'Person'],
    ['ibr', 'beneficiary', 'Beneficiary'],
    ['ibr', 'beneficiaries', 'Beneficiary'],
    ['ibr', 'members', 'Beneficiary'],
    ['ess', 'member', 'Member'],
    ['social', 'member', 'Member'],
    ['social', 'people', 'Member'],
    ['social', 'group', 'Group'],
    ['social', 'households', 'Group'],
    ['social', 'families', 'Group'],
    ['disability', 'disabledPerson', 'DisabledPerson'],
    ['disability', 'disabled_people', 'DisabledPerson'],
    ['farmer', 'FARMERS', 'Farmer'],
  ])('of %s: %s is %s', (kind, name, recordType) => {
    expect(root(kind, name)).toBe(recordType)
  })

  it('every name of every record type is one, but for a name that an earlier one has', () => {
    for (const kind of KINDS) {
      const seen = new Set<string>()
      for (const recordType of kind.record_types) {
        for (const name of [recordType.name, recordType.emitted, ...recordType.aliases]) {
          if (!seen.has(name)) expect(recordTypeOfRootField(kind, name, 'q'), name).toBe(recordType)
          seen.add(name)
        }
      }
    }
  })

  it.each([
    ['civil', 'group', 'q.group: must be one of person'],
    ['social', 'farmer', 'q.farmer: must be one of member, group'],
    ['civil', 'constructor', 'q.constructor: must be one of person'],
    ['civil', '__schema', 'q.__schema: introspection is not answered'],
    ['civil', '__type', 'q.__type: introspection is not answered'],
    ['civil', '__typename', 'q.__typename: introspection is not answered'],
  ])('of %s: %s is refused', (kind, name, message) => {
    expect(() => root(kind, name)).toThrow(message)
  })
})
