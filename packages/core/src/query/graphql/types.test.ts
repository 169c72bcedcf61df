import { KINDS, kindNamed, namesOf } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { type MemberOfSchema, membersOfSchema, type ObjectField, type ObjectType, objectType } from './types.ts'

const RECORD_TYPES = KINDS.flatMap((kind) => kind.record_types.map((recordType) => ({ kind, recordType })))

function typeOf(kindName: string, name: string): ObjectType {
  const kind = kindNamed(kindName)
  const recordType = kind?.record_types.find((one) => one.name === name)
  if (kind === undefined || recordType === undefined) throw new Error(`${kindName} ${name}`)
  return objectType(kind, recordType)
}

function field(type: ObjectType | undefined, name: string): ObjectField {
  const found = type?.fields.get(name)
  if (found === undefined) throw new Error(name)
  return found
}

describe.each(RECORD_TYPES)('$kind.name $recordType.name', ({ kind, recordType }) => {
  const type = objectType(kind, recordType)

  it('has a field for every documented member, attribute, list and identifier type by any name', () => {
    const compounds = recordType.compounds ?? []
    const named = [
      ...recordType.attributes,
      ...compounds,
      ...compounds.flatMap(({ members }) => members),
      ...kind.identifier_types,
    ]
    const names = named
      .filter((row) => !('since' in row))
      .flatMap((row) => namesOf(row))
      .filter((name) => !name.includes('.'))
    const members = membersOfSchema(recordType.schema).map(({ name }) => name)
    for (const name of [...names, ...members]) expect([...type.fields.keys()]).toContain(name.toLowerCase())
    expect(type.names).toEqual(expect.arrayContaining(members))
    expect(new Set(type.names).size).toBe(type.names.length)
  })

  it('is made once', () => {
    expect(objectType(kind, recordType)).toBe(type)
    expect(objectType({ ...kind }, recordType)).not.toBe(type)
  })

  it('reads nothing from a record of nothing', () => {
    for (const { name, read } of type.fields.values()) expect(read({}), name).toBeUndefined()
  })
})

describe('the documented shape', () => {
  it('one name means one shape within a kind', () => {
    for (const kind of KINDS) {
      const shapes = new Map<string, string>()
      const look = (name: string, members: readonly MemberOfSchema[]): void => {
        const text = JSON.stringify(members)
        expect(shapes.get(name) ?? text, `${kind.name} ${name}`).toBe(text)
        shapes.set(name, text)
        for (const { object } of members) if (object !== undefined) look(object.name, object.members)
      }
      for (const { name, schema } of kind.record_types) look(name, membersOfSchema(schema))
    }
  })

  it('leaves out what GraphQL cannot spell', () => {
    expect(typeOf('civil', 'Person').names.filter((name) => name.startsWith('@'))).toEqual([])
  })

  it('a list or a single object has the fields of the object', () => {
    const person = typeOf('civil', 'Person')
    expect(field(person, 'identifier')).toMatchObject({ type: { name: 'Identifier' }, whole: false })
    expect(field(person, 'address')).toMatchObject({ type: { name: 'Address' }, whole: false })
  })

  it('what is an object or text may be chosen whole', () => {
    expect(field(typeOf('civil', 'Person'), 'death_place')).toMatchObject({ type: { name: 'Place' }, whole: true })
    expect(field(typeOf('civil', 'Person'), 'sex')).toMatchObject({ whole: true })
    expect(field(typeOf('civil', 'Person'), 'sex').type).toBeUndefined()
  })

  it('a member keeps its type under another spelling', () => {
    expect(field(typeOf('civil', 'Person'), 'place_of_birth').type?.name).toBe('Place')
  })

  it('members of a household are members by all their names', () => {
    const list = field(typeOf('social', 'Group'), 'member_list')
    expect(list.type).toBe(typeOf('social', 'Member'))
    expect([...(list.type?.fields.keys() ?? [])]).toContain('surname')
  })

  it('an age is counted on a day and no field', () => {
    expect(typeOf('civil', 'Person').names).not.toContain('age')
  })
})
