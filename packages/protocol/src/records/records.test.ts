import { describe, expect, it } from 'vitest'
import { KINDS } from '../kinds/index.ts'
import { validator } from '../validate.ts'
import { Identifier } from './parts.ts'

const types = KINDS.flatMap((kind) => kind.record_types.map((type) => ({ kind: kind.name, type })))

describe.each(types)('the record shape of $kind $type.name', ({ type }) => {
  it('requires nothing and is open, at every depth', () => {
    const closed: string[] = []
    const look = (schema: unknown, path: string): void => {
      if (typeof schema !== 'object' || schema === null) return
      if ('required' in schema || 'additionalProperties' in schema) closed.push(path)
      for (const [key, value] of Object.entries(schema)) look(value, `${path}.${key}`)
    }
    look(JSON.parse(JSON.stringify(type.schema)), type.name)
    expect(closed).toEqual([])
  })

  it('tells when the record was registered and last changed, and what it is', () => {
    expect(JSON.stringify(type.schema)).toContain('"registration_date"')
    expect(JSON.stringify(type.schema)).toContain('"last_updated"')
    expect(type.schema).toMatchObject({ title: type.name, properties: { '@id': {}, '@type': {} } })
  })

  it('accepts a record of nothing, and members of its own', () => {
    const { problem } = validator(type.schema)
    expect(problem({}, '')).toBeNull()
    expect(problem({ '@context': {}, '@type': type.name, shoe_size: [9] }, '')).toBeNull()
  })
})

it('documents codes with their meanings', () => {
  const [person] = KINDS[0]?.record_types ?? []
  expect(JSON.stringify(person?.schema)).toContain('S never married, M married, W widow')
  expect(JSON.stringify(Identifier)).toContain('identifier_value')
})
