import { describe, expect, it } from 'vitest'
import { KINDS, resolveRecordType } from '../kinds/index.ts'
import { resolveSearchable } from '../kinds/searchable.ts'
import { QUERY_TYPES, Query } from '../messages/query.ts'
import { validator } from '../validate.ts'
import { queryExamples } from './query-examples.ts'

describe.each(KINDS.map((kind) => [kind.name, kind] as const))('the queries of %s', (_, kind) => {
  const examples = queryExamples(kind)
  const [recordType] = kind.record_types

  it('have every form, and are what the schema says', () => {
    expect(examples.map(({ query_type }) => query_type)).toEqual([...QUERY_TYPES])
    expect(new Set(examples.map(({ name }) => name)).size).toBe(examples.length)
    for (const { query } of examples) expect(validator(Query).problem(query, 'query')).toBeNull()
  })

  it('ask two things that the record type is searched by', () => {
    const [, , list] = examples
    const [element] = (list?.query ?? []) as unknown as [Record<string, { attribute_name: string }>]
    for (const member of ['expression1', 'expression2']) {
      const name = element[member]?.attribute_name ?? ''
      expect(resolveSearchable(kind, recordType, name)?.is).toBe('attribute')
    }
  })

  it('name the record type in graphql', () => {
    const text = JSON.stringify(examples.find(({ name }) => name === 'graphql')?.query)
    const field = /\{ (\w+)\(/.exec(text)?.[1] ?? ''
    expect(resolveRecordType(kind, field)).toBe(recordType)
    expect(text).toContain(`{ ${recordType.primary_identifier} `)
  })
})

it('leaves out what a record type lacks', () => {
  const [kind] = KINDS
  if (kind === undefined) throw new Error('no kind')
  const [recordType] = kind.record_types
  const surname = recordType.attributes.filter(({ name }) => name === 'surname')
  const [, , list, graphql] = queryExamples({ ...kind, record_types: [{ ...recordType, attributes: surname }] })
  const expression1 = { attribute_name: 'surname', operator: 'eq', attribute_value: 'Okoro' }
  expect(list?.query).toEqual([{ seq_num: 1, expression1 }])
  expect(graphql?.query).toMatchObject({ value: { expression: '{ person(surname: {eq: "Okoro"}) { UIN surname } }' } })
})
