import Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { makeComponentCollector } from './components.ts'

const Name = Type.Object({ surname: Type.String() }, { title: 'Name' })

describe('collectComponents', () => {
  it('makes a component of a schema with a title, and refers to it', () => {
    const { refer, schemas } = makeComponentCollector()
    expect(refer(Name)).toEqual({ $ref: '#/components/schemas/Name' })
    expect(schemas).toEqual({ Name: { ...Name } })
  })

  it('refers to titled schemas wherever they stand, also when they are optional', () => {
    const { refer, schemas } = makeComponentCollector()
    const ref = { $ref: '#/components/schemas/Name' }
    const whole = Type.Object({
      one: Name,
      perhaps: Type.Optional(Name),
      many: Type.Array(Name),
      either: Type.Union([Name, Type.Null()]),
    })
    expect(refer(whole)).toEqual({
      type: 'object',
      required: ['one', 'many', 'either'],
      properties: { one: ref, perhaps: ref, many: { type: 'array', items: ref }, either: { anyOf: [ref, { type: 'null' }] } },
    })
    expect(Object.keys(schemas)).toEqual(['Name'])
  })

  it('leaves a schema in place whose title is no name', () => {
    const { refer, schemas } = makeComponentCollector()
    const described = Type.String({ title: 'a name, in words' })
    expect(refer(described)).toEqual({ type: 'string', title: 'a name, in words' })
    expect(schemas).toEqual({})
  })

  it('takes a member called title for what it is', () => {
    const { refer } = makeComponentCollector()
    expect(refer(Type.Object({ title: Type.String() }))).toEqual({
      type: 'object',
      required: ['title'],
      properties: { title: { type: 'string' } },
    })
  })

  it('refuses another schema under a title that is taken', () => {
    const { refer } = makeComponentCollector()
    refer(Name)
    refer({ ...Name })
    expect(() => refer(Type.String({ title: 'Name' }))).toThrow(new Error('two different schemas are titled Name'))
  })
})
