import { kindNamed } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { readGrant } from './grant.ts'
import { isAlwaysShownByGrant, shownAttributes } from './shown-attributes.ts'

test('an attribute that is shown at one of its places alone is not always shown, nor is what stands beside it', () => {
  const social = kindNamed('social')
  if (social === undefined) throw new Error('no kind social')
  const [member] = social.record_types
  const seeing = (name: string) => {
    const grant = readGrant(social, { id: 1, terms: { operations: 'all', see: [name], basis: 'law' } })
    const always = ['birth_date', 'surname', 'UIN'].filter((wanted) => isAlwaysShownByGrant(grant, member, wanted))
    return { always, shown: shownAttributes(grant, member) }
  }
  expect(seeing('birth_date')).toEqual({ always: ['birth_date'], shown: ['birth_date'] })
  expect(seeing('demographic_info.birth_date')).toEqual({ always: [], shown: ['birth_date'] })
  expect(seeing('identifier').always).toEqual(['UIN'])
})
