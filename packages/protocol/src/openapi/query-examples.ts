/** An example of each query form for a kind, with its default record type and with attributes that it has. */

import type { Kind, RecordType } from '../kinds/kind.ts'
import type { QueryType } from '../messages/query.ts'
import type { JsonObject } from './components.ts'
import { sampleIdentifier } from './sample-record.ts'

/** A query in one form, with its name and summary. It fits the invented person of the examples. */
export interface QueryExample {
  /** Our own name for the example, unique among the examples. */
  readonly name: string
  readonly summary: string
  readonly query_type: QueryType
  readonly query: JsonObject | readonly JsonObject[]
}

type ExampleConditions = readonly (readonly [attribute: string, operator: string, value: string])[]

/** Conditions for the example queries. Conditions on attributes that a record type lacks are left out. */
const EXAMPLE_CONDITIONS: ExampleConditions = [
  ['sex', 'eq', 'female'],
  ['birth_date', 'lt', '2000'],
  ['surname', 'eq', 'Okoro'],
  ['registration_date', 'ge', '2024'],
]

/** Makes a query in the form of `TypedExpression`. @param type `expression` or `graphql` */
const makeTypedExpression = (type: string, expression: unknown) => ({ type: `ns:org:QueryType:${type}`, value: { expression } })

/** One example for each query form. The identifier form comes first; the others all ask for the same conditions. */
export function queryExamples(kind: Kind): readonly QueryExample[] {
  const [recordType] = kind.record_types
  const known = EXAMPLE_CONDITIONS.filter(([name]) => recordType.attributes.some((one) => one.name === name))
  const asked = known.slice(0, 2)
  return [
    { name: 'identifier', summary: 'By an identifier', query_type: 'idtype-value', query: sampleIdentifier(kind, recordType) },
    {
      name: 'expression',
      summary: 'By an expression',
      query_type: 'expression',
      query: makeTypedExpression('expression', {
        collection: recordType.emitted,
        query: { $and: asked.map(([name, operator, value]) => ({ [name]: { [`$${operator}`]: value } })) },
      }),
    },
    { name: 'predicate', summary: 'By an expression list', query_type: 'predicate', query: [expressionList(asked)] },
    {
      name: 'graphql',
      summary: 'By graphql, which also says what is answered of each record',
      query_type: 'graphql',
      query: makeTypedExpression('graphql', exampleGraphql(recordType, asked)),
    },
  ]
}

function expressionList(asked: ExampleConditions): JsonObject {
  const [first, second] = asked.map(([attribute_name, operator, attribute_value]) => ({
    attribute_name,
    operator,
    attribute_value,
  }))
  const more = second === undefined ? {} : { condition: 'and', expression2: second }
  return { seq_num: 1, expression1: first, ...more }
}

function exampleGraphql({ name, primary_identifier }: RecordType, asked: ExampleConditions): string {
  const field = `${name.charAt(0).toLowerCase()}${name.slice(1)}`
  const given = asked.map(([attribute, operator, value]) => `${attribute}: {${operator}: "${value}"}`)
  const selected = [primary_identifier, ...asked.map(([attribute]) => attribute)]
  return `{ ${field}(${given.join(', ')}) { ${selected.join(' ')} } }`
}
