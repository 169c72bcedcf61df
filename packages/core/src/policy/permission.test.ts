import { KINDS, type Kind } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import type { Grant, GrantTerms } from '../model/grant.ts'
import { readGrant } from './grant.ts'
import { permissionFor } from './permission.ts'

const civil = KINDS.find(({ name }) => name === 'civil') as Kind
const granted = (terms: Partial<GrantTerms>): Grant =>
  readGrant(civil, { id: 1, terms: { operations: 'all', see: 'all', basis: 'law', ...terms } })
const refused = (reason: string) => ({ allowed: false, reason })

describe('may', () => {
  it('refuses everything where nothing is granted', () => {
    expect(permissionFor(null, { operation: 'search' })).toEqual(
      refused('nothing in this registry is granted to this participant'),
    )
  })

  it('asks for the operation', () => {
    const grant = granted({ operations: ['search'] })
    expect(permissionFor(grant, { operation: 'search' })).toMatchObject({ allowed: true })
    expect(permissionFor(grant, { operation: 'subscribe' })).toEqual(refused('this operation is not granted to this participant'))
  })

  it('asks for the event type, of which none is granted unless it is named', () => {
    const wanted = { operation: 'subscribe', event_type: 'Death' }
    expect(permissionFor(granted({ event_types: ['death'] }), wanted)).toMatchObject({ allowed: true })
    expect(permissionFor(granted({ event_types: 'all' }), wanted)).toMatchObject({ allowed: true })
    for (const terms of [{}, { event_types: ['LiveBirth'] }]) {
      expect(permissionFor(granted(terms), wanted)).toEqual(refused('this event type is not granted to this participant'))
    }
  })

  it('asks for the record type', () => {
    const social = KINDS.find(({ name }) => name === 'social') as Kind
    const terms: GrantTerms = { operations: 'all', record_types: ['Member'], see: 'all', basis: 'law' }
    const grant = readGrant(social, { id: 1, terms })
    expect(permissionFor(grant, { operation: 'search', record_type: 'Member' })).toMatchObject({ allowed: true })
    expect(permissionFor(grant, { operation: 'search', record_type: 'Group' })).toEqual(
      refused('this record type is not granted to this participant'),
    )
  })

  it('lets a participant go without a filter only where that is granted', () => {
    const wanted = { operation: 'subscribe', unfiltered: true }
    expect(permissionFor(granted({}), wanted)).toEqual(refused('this participant may not subscribe without a filter'))
    expect(permissionFor(granted({ unfiltered: true }), wanted)).toMatchObject({ allowed: true })
    expect(permissionFor(granted({}), { ...wanted, unfiltered: false })).toMatchObject({ allowed: true })
  })
})
