/**
 * Reads the graphql form (spec "Query forms" 1). Root fields name record types, arguments are conditions, and the
 * selection says what is answered of each record.
 */

import { isJsonObject, type JsonObject, type Kind, type RecordType } from '@rollcall/protocol'
import { type ArgumentNode, type FieldNode, print } from 'graphql'
import { oncePerObject } from '../../model/once-per.ts'
import type { Predicate } from '../../model/predicate.ts'
import { joinByAnd, joinByOr } from '../forms/combine.ts'
import { readExpression } from '../forms/expression.ts'
import { joinPathStep, QueryReader } from '../forms/reader.ts'
import { lazyRecordValues } from '../memory/extract-record.ts'
import { matches } from '../memory/matches.ts'
import { type Query, QueryProblem, type QueryScope } from '../query.ts'
import { replaceAgesByDates } from '../resolve-ages.ts'
import { type GraphqlQuery, readDocument } from './document.ts'
import { literalToJson, type VariablesByName } from './literal.ts'
import { applySelection, type FieldGroup, type Selection, SelectionReader } from './selection.ts'
import { objectType } from './types.ts'

/** One root field: a condition on records, and what is selected from those that match. */
interface RootField {
  readonly predicate: Predicate
  readonly selection: Selection
}

/**
 * Reads a query completely, or refuses it. With several root fields, a record is found when one of them finds it.
 * @throws QueryProblem; errors of `scope.visible` are passed on
 */
export function readGraphql(scope: QueryScope, query: GraphqlQuery, path: string): Query {
  const { query_terms, query_values, query_depth } = scope.limits
  // Enough tokens and nesting for a query within the limits.
  const textLimits = { tokens: 8 * query_terms + query_values + 2_000, nesting: 2 * query_depth + 10 }
  const document = readDocument(query, textLimits, path)
  const selections = new SelectionReader(document)
  const groups = [...selections.fields([document.operation.selectionSet], 'Query', path)]
  const reader = new QueryReader(scope)
  setQueryRecordType(reader, groups, path)
  const { kind, recordType } = reader
  const visible = scope.visible?.()?.get(recordType.name)
  const seen = visible === undefined ? null : [visible]
  const roots = groups.map(([name, group]): RootField => {
    const memberPath = joinPathStep(path, name)
    return {
      predicate: readArguments(reader, fieldArguments(group, memberPath), document.variables, memberPath),
      selection: selections.of(objectType(kind, recordType), group, memberPath, seen),
    }
  })
  return {
    predicate: joinByOr(roots.map(({ predicate }) => predicate)),
    recordType,
    shape: makeSelectionApplier(kind, recordType, roots),
  }
}

/** Sets the record type of the query. @throws QueryProblem another root field, or the criteria, name another record type */
function setQueryRecordType(reader: QueryReader, groups: readonly (readonly [string, FieldGroup])[], path: string): void {
  const [first, ...others] = groups.map(([name, [field]]) => {
    return { memberPath: joinPathStep(path, name), recordType: recordTypeOfRootField(reader.kind, field.name.value, path) }
  })
  if (first === undefined) throw new QueryProblem(path, 'must have a root field that is not skipped')
  const other = others.find(({ recordType }) => recordType !== first.recordType)
  if (other !== undefined) {
    throw new QueryProblem(other.memberPath, 'must be of the same record type as the other root fields')
  }
  reader.name(first.recordType, first.memberPath)
}

/**
 * The arguments of fields with the same name in the answer. GraphQL answers such fields as one, so their arguments must be equal.
 */
function fieldArguments([first, ...others]: FieldGroup, path: string): readonly ArgumentNode[] {
  const text = (field: FieldNode): string => (field.arguments ?? []).map(print).join()
  if (others.some((field) => text(field) !== text(first))) {
    throw new QueryProblem(path, 'one name in the answer must have the same arguments everywhere')
  }
  return first.arguments ?? []
}

/** The name of the argument into which some tools put all conditions. */
const CONDITIONS_ARGUMENT = 'where'

function readArguments(reader: QueryReader, nodes: readonly ArgumentNode[], variables: VariablesByName, path: string): Predicate {
  const given = nodes.map(({ name, value }) => {
    return [name.value, literalToJson(value, variables, joinPathStep(path, name.value))] as const
  })
  if (given.length === 0) throw new QueryProblem(path, 'must have arguments that say which records are asked for')
  const nested = given.find(([name]) => name === CONDITIONS_ARGUMENT)
  const rest = given.filter((one) => one !== nested)
  return joinByAnd([
    ...(rest.length === 0 ? [] : [readExpression(reader, Object.fromEntries(rest), path)]),
    ...(nested === undefined ? [] : [readExpression(reader, nested[1], joinPathStep(path, CONDITIONS_ARGUMENT))]),
  ])
}

/**
 * Returns a function that shapes the shown part of a record by the selection of the first root field whose condition is true for
 * this part, or else of the first root field.
 */
function makeSelectionApplier(kind: Kind, recordType: RecordType, roots: readonly RootField[]): NonNullable<Query['shape']> {
  const finding = (document: JsonObject, day: string): RootField | undefined => {
    if (roots.length === 1) return roots[0]
    const record = lazyRecordValues(kind, recordType, document)
    const found = roots.find(({ predicate }) => matches(replaceAgesByDates(predicate, recordType, day), record))
    // Perhaps no condition is true here: `document` lacks an attribute of the condition, because the grant does not show it, or
    // an age has changed since the search.
    return found ?? roots[0]
  }
  return (document, day) => {
    if (!isJsonObject(document)) return null
    const root = finding(document, day)
    return root === undefined ? null : applySelection(root.selection, document)
  }
}

/** The record type of a root field. @throws QueryProblem no record type has this name */
export function recordTypeOfRootField(kind: Kind, name: string, path: string): RecordType {
  if (name.startsWith('__')) throw new QueryProblem(joinPathStep(path, name), 'introspection is not answered')
  const recordType = possibleSingulars(name)
    .map((singular) => recordTypesByRootName(kind).get(rootNameKey(singular)))
    .find((found) => found !== undefined)
  if (recordType !== undefined) return recordType
  const known = kind.record_types.map(({ emitted }) => emitted.charAt(0).toLowerCase() + emitted.slice(1))
  throw new QueryProblem(joinPathStep(path, name), `must be one of ${[...new Set(known)].join(', ')}`)
}

/** The record type for each name of a root field. A name of several record types means the first of these. */
const recordTypesByRootName = oncePerObject(({ record_types }: Kind): ReadonlyMap<string, RecordType> => {
  const made = new Map<string, RecordType>()
  for (const recordType of record_types) {
    for (const name of [recordType.name, recordType.emitted, ...recordType.aliases]) {
      const key = rootNameKey(name)
      if (!made.has(key)) made.set(key, recordType)
    }
  }
  return made
})

/** The name in lower case without `_`: `DisabledPerson`, `disabledPerson` and `disabled_person` give one key. */
function rootNameKey(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}

/** Returns the name, and the words in the singular of which it may be the plural. */
function possibleSingulars(name: string): string[] {
  const plurals: readonly (readonly [RegExp, string])[] = [
    [/s$/i, ''],
    [/ies$/i, 'y'],
    [/people$/i, 'person'],
  ]
  return [name, ...plurals.filter(([plural]) => plural.test(name)).map(([plural, end]) => name.replace(plural, end))]
}
