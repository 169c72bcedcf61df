import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../json.ts'
import { KINDS } from '../kinds/index.ts'
import type { Attribute } from '../kinds/kind.ts'
import { readAttribute } from './read-attribute.ts'

const birthDate: Attribute = { name: 'birth_date', paths: ['info.birth_date', 'birth_date'], type: 'date' }
const programmes: Attribute = { name: 'p', paths: ['a.p', 'b.p'], type: 'text', many: true }

describe('readAttribute', () => {
  it('reads the first path that has a value its type can read', () => {
    const day = { from: '1985-06-12', to: '1985-06-12' }
    expect(readAttribute(birthDate, { info: { birth_date: '1985-06-12' }, birth_date: '1990' })).toEqual(day)
    expect(readAttribute(birthDate, { info: { birth_date: '1985-02-31' }, birth_date: '1985-06-12' })).toEqual(day)
  })

  it('reads the first value where the document has several and the attribute one', () => {
    expect(readAttribute(birthDate, { birth_date: ['unknown', '1985', '1990'] })).toEqual({
      from: '1985-01-01',
      to: '1985-12-31',
    })
  })

  it('reads all values of the first path that has any where the attribute is many', () => {
    expect(readAttribute(programmes, { a: [{ p: 'one' }, { p: '' }, { p: ['two'] }], b: { p: 'three' } })).toEqual(['one', 'two'])
    expect(readAttribute(programmes, { b: { p: 'three' } })).toEqual(['three'])
  })

  it.each([[{}], [[]], [null], ['x'], [{ birth_date: '' }], [{ birth_date: null }], [{ birth_date: [] }]])(
    'is null where there is no value: %j',
    (document) => {
      expect(readAttribute(birthDate, document)).toBeNull()
      expect(readAttribute(programmes, document)).toBeNull()
    },
  )

  it('tells false and 0 from no value', () => {
    expect(readAttribute({ name: 'a', paths: ['a'], type: 'boolean' }, { a: false })).toBe(false)
    expect(readAttribute({ name: 'a', paths: ['a'], type: 'number' }, { a: '0' })).toBe(0)
  })

  it('reads every attribute of every kind from any document without failing, and never changes the document', () => {
    const attributes = KINDS.flatMap((kind) => kind.record_types.flatMap((type) => type.attributes))
    const keys = [...new Set(attributes.flatMap(({ paths }) => paths.flatMap((path) => path.split('.'))))]
    const { document } = fc.letrec<{ document: JsonValue }>((tie) => ({
      document: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(fc.string({ unit: 'binary' }), fc.double(), fc.bigInt().map(String), fc.boolean(), fc.constant(null)),
        fc.array(tie('document'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...keys), tie('document'), { maxKeys: 8 }),
      ),
    }))
    fc.assert(
      fc.property(document, (value) => {
        const before = structuredClone(value)
        for (const attribute of attributes) {
          const read = readAttribute(attribute, value)
          if (read !== null) expect(Array.isArray(read)).toBe(attribute.many === true)
        }
        expect(value).toEqual(before)
      }),
      { numRuns: 200 },
    )
  })
})
