/** Explains how PostgreSQL runs a search, for an operator who asks why it is slow. */

import { type Comparator, isCompound, type Predicate } from '@rollcall/core/model/predicate'
import type { RecordQuery } from '@rollcall/core/model/record-source'
import type { RegistryShape } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { StoreRefusal } from '@rollcall/database/refusal'
import { recordTable } from '../record-tables.ts'
import { searchStatement } from '../search-statement.ts'
import { predicateToSql } from './to-sql.ts'

interface StatementPlan {
  /** The result of EXPLAIN, as JSON and as lines. */
  readonly plan: { readonly json: unknown; readonly text: string }
  /** The planner's estimate for the whole statement, in PostgreSQL's unit: reading one disk page in sequence costs 1. */
  readonly cost: number
}

export interface SearchExplanation extends StatementPlan {
  /** The predicate as text, one condition on each line. */
  readonly tree: string
  readonly sql: string
  /** The values of `$1` and so on in the statement; null when they must not be shown. */
  readonly values: readonly unknown[] | null
  /** Attributes and compounds that have no index, where an index would let the search read fewer records. */
  readonly missing: readonly string[]
}

/**
 * Explains the statement of a search. A look-up of one identifier is also explained as a search, although a shorter statement
 * answers the look-up.
 * @param options.analyze also runs the search, within its time limit
 * @param options.values shows the values of the query: in the tree, in the plan and as `values`
 * @throws pg's DatabaseError when the search takes too long; StoreRefusal the records are not in our own tables
 */
export async function explainSearch(
  db: Database,
  registry: RegistryShape,
  { recordType, predicate, page }: RecordQuery,
  options: { readonly analyze?: boolean; readonly values?: boolean },
): Promise<SearchExplanation> {
  if (registry.own_records === false) {
    throw new StoreRefusal('the records are in a database of their own, and a search has no statement of ours to explain')
  }
  const table = recordTable(registry, recordType)
  const statement = searchStatement(table, predicateToSql(predicate, table), page)
  const { cost, plan } = await readPlan(db, statement, options.analyze === true)
  const shown = options.values === true
  return {
    tree: shown ? predicateText(predicate) : predicateText(predicate, () => '?'),
    sql: statement.text,
    values: shown ? statement.values : null,
    missing: missingIndexes(predicate),
    cost,
    plan: shown ? plan : { text: maskPlanValues(plan.text), json: maskedPlan(plan.json) },
  }
}

async function readPlan(
  db: Database,
  { text, values }: { readonly text: string; readonly values: unknown[] },
  analyze: boolean,
): Promise<StatementPlan> {
  const options = analyze ? 'analyze, buffers' : 'costs'
  const lines = await db.searches.query<{ 'QUERY PLAN': string }>(`explain (${options}) ${text}`, values)
  // The plan as JSON is made without running the statement again; only the plan as lines has the times.
  const json = await db.searches.query<{ 'QUERY PLAN': unknown }>(`explain (format json) ${text}`, values)
  const [root] = json.rows.flatMap((row) => row['QUERY PLAN'] as readonly { Plan: { 'Total Cost': number } }[])
  return {
    plan: { json: root ?? null, text: lines.rows.map((row) => row['QUERY PLAN']).join('\n') },
    cost: root?.Plan['Total Cost'] ?? 0,
  }
}

/** Removes values from a plan. PostgreSQL writes most as literals in quotes; true and false stay. */
const maskPlanValues = (text: string): string => text.replace(/'(?:[^']|'')*'/g, "'?'")

function maskedPlan(plan: unknown): unknown {
  if (typeof plan === 'string') return maskPlanValues(plan)
  if (Array.isArray(plan)) return plan.map(maskedPlan)
  if (typeof plan !== 'object' || plan === null) return plan
  return Object.fromEntries(Object.entries(plan).map(([name, value]) => [name, maskedPlan(value)]))
}

/**
 * The attributes and compounds without an index, where an index would let the search read fewer records. Empty when declared
 * indexes find the records already. Conditions that no index helps, such as `contains`, add nothing.
 */
export function missingIndexes(predicate: Predicate): readonly string[] {
  return [...new Set(collectMissingIndexes(predicate, true))].sort()
}

/**
 * True when indexes find the wanted records: if `asked` is true, those for which the predicate is definitely true; if `asked` is
 * false, those for which it is definitely false.
 */
function isAnsweredByIndexes(predicate: Predicate, asked: boolean): boolean {
  switch (predicate.is) {
    case 'not':
      return isAnsweredByIndexes(predicate.of, !asked)
    case 'and':
    case 'or':
      // A true `and`, or a false `or`, determines the value of every part: an index for one part is enough. For a false `and`, or
      // a true `or`, any one part may be the reason: each part needs an index.
      return (predicate.is === 'and') === asked
        ? predicate.of.some((part) => isAnsweredByIndexes(part, asked))
        : predicate.of.every((part) => isAnsweredByIndexes(part, asked))
    case 'identifier':
    case 'identifier_type':
      return asked
    default: {
      const wanted = findIndexable(predicate, asked)
      return wanted?.indexed === true
    }
  }
}

function collectMissingIndexes(predicate: Predicate, asked: boolean): readonly string[] {
  if (isAnsweredByIndexes(predicate, asked)) return []
  switch (predicate.is) {
    case 'not':
      return collectMissingIndexes(predicate.of, !asked)
    case 'and':
    case 'or':
      return predicate.of.flatMap((part) => collectMissingIndexes(part, asked))
    case 'identifier':
    case 'identifier_type':
      return []
    default: {
      const wanted = findIndexable(predicate, asked)
      return wanted === null ? [] : [wanted.name]
    }
  }
}

type AttributeOrCompound = { readonly name: string; readonly indexed?: true }
type AttributeOrElementCondition = Extract<Predicate, { is: 'compare' | 'in' | 'exists' | 'some' }>

/** The comparisons whose negation is also a single range of values, which an index can find. */
const RANGE_COMPARATORS: readonly Comparator[] = ['lt', 'le', 'gt', 'ge']

/** The attribute or compound whose index would speed up a condition; null when no index would. */
function findIndexable(leaf: AttributeOrElementCondition, asked: boolean): AttributeOrCompound | null {
  switch (leaf.is) {
    case 'compare': {
      const helps = asked ? leaf.operator !== 'contains' : RANGE_COMPARATORS.includes(leaf.operator)
      return helps ? leaf.attribute : null
    }
    case 'in':
      return asked ? leaf.attribute : null
    case 'exists':
      return leaf.list === undefined || leaf.list === leaf.attribute ? leaf.attribute : null
    case 'some':
      return asked && hasRequiredElementValue(leaf.of) ? leaf.list : null
  }
}

/** True when `eq` or `in` names a value that an element of the compound or list must have: its index finds such records. */
function hasRequiredElementValue(of: Predicate): boolean {
  switch (of.is) {
    case 'and':
      return of.of.some(hasRequiredElementValue)
    case 'or':
      return of.of.every(hasRequiredElementValue)
    case 'compare':
      return of.operator === 'eq'
    default:
      return of.is === 'in'
  }
}

/** Returns a value of a query as text: as JSON, or as `?` when values must not be shown. */
type ValueToText = (value: unknown) => string

/** Returns a predicate as lines of text, with its parts indented. */
export function predicateText(predicate: Predicate, write: ValueToText = (value) => JSON.stringify(value), indent = ''): string {
  const part = (inner: Predicate): string => predicateText(inner, write, `${indent}  `)
  return indent + predicateNodeText(predicate, write, part)
}

function predicateNodeText(predicate: Predicate, write: ValueToText, part: (inner: Predicate) => string): string {
  switch (predicate.is) {
    case 'and':
    case 'or':
      return [predicate.is, ...predicate.of.map(part)].join('\n')
    case 'not':
      return `not\n${part(predicate.of)}`
    case 'some':
      return `some ${predicate.list.name}${isCompound(predicate.list) ? '' : ' value'}\n${part(predicate.of)}`
    case 'compare':
      return `${predicate.attribute.name} ${predicate.operator} ${write(predicate.value)}`
    case 'in':
      return `${predicate.attribute.name} in ${write(predicate.values)}`
    case 'exists':
      return `${predicate.attribute.name} exists`
    case 'identifier':
      return `identifier ${predicate.identifiers.map(({ type, value }) => `${type} ${write(value)}`).join(' or ')}`
    case 'identifier_type':
      return `identifier of type ${predicate.types.join(' or ')}`
  }
}
