/** How the columns of a source are compared: a row for each way that a source file may name. */

import type { Comparator, Interval, Literal } from '@rollcall/core/model/predicate'
import type { MappingTarget } from '@rollcall/import/column-mapping'
import { type Attribute, readAttribute } from '@rollcall/protocol'
import type { ColumnTest } from './engine/column-test.ts'
import type { ColumnComparisonName } from './engine/comparison-names.ts'

/** The thing that is compared: an attribute, or the word `identifier` for all identifier types. */
export type ComparisonSubject = Attribute | 'identifier'

/** The rules of one way to compare columns of a source. */
export interface ColumnComparisonRules {
  /** Says why columns cannot be compared in this way for an attribute or identifier; null: they can. */
  problem(compared: ComparisonSubject, targets: readonly MappingTarget[]): string | null
  /** A test that a column passes if the comparison is true; null: the column cannot be tested. */
  test(compared: ComparisonSubject, target: MappingTarget, operator: Comparator, value: Literal): ColumnTest | null
}

/**
 * The number of characters from which a folded text (without case and accents) is compared only as the beginning of the column's
 * text. Our texts are cut after 512 characters, so the column may have a longer text. The limit is less than 512 for safety.
 */
const LEAST_LONG_TEXT_CHARACTERS = 500

/** The most days (a year) of a period for which a condition lists the text of each day, where a column has dates as texts. */
const MOST_DAY_TEXTS_IN_CONDITION = 366
const DAY_MILLISECONDS = 86_400_000

const subjectTypeOf = (compared: ComparisonSubject): string => (compared === 'identifier' ? 'identifier' : compared.type)
/** True for an attribute whose texts are compared without case and accents. */
const isFolded = (compared: ComparisonSubject): boolean => compared !== 'identifier' && compared.fold === true
const describeSubject = (compared: ComparisonSubject): string =>
  isFolded(compared)
    ? 'text that compares without case and accents'
    : compared === 'identifier'
      ? 'an identifier'
      : `of type ${compared.type}`

/**
 * Says why a way to compare cannot be used for the type of an attribute; null: it can.
 * @param types the types that the way can compare: attribute types, or `identifier`
 */
const findTypeProblem = (compared: ComparisonSubject, types: readonly string[]): string | null =>
  types.includes(subjectTypeOf(compared)) ? null : `is ${describeSubject(compared)}; another way to compare fits it`

export const COLUMN_COMPARISON_RULES: Readonly<Record<ColumnComparisonName, ColumnComparisonRules>> = {
  exact: {
    problem: (compared) =>
      isFolded(compared) ? `is ${describeSubject(compared)}; write folded` : findTypeProblem(compared, ['text', 'identifier']),
    test(_, { codes, format }, operator, value) {
      if (codes !== null || format !== null || typeof value !== 'string') return null
      if (operator === 'eq') return { is: 'texts', texts: [value] }
      return operator === 'starts_with' ? { is: 'beginning', text: value } : null
    },
  },
  digits: {
    problem: (compared) =>
      isFolded(compared) ? `is ${describeSubject(compared)}; write folded` : findTypeProblem(compared, ['identifier']),
    test: (_compared, { codes, format }, operator, value) =>
      codes === null && format === null && operator === 'eq' && typeof value === 'string' && /^[0-9]+$/.test(value)
        ? { is: 'digits', texts: [value] }
        : null,
  },
  folded: {
    problem: (compared) => (isFolded(compared) ? null : `is ${describeSubject(compared)}; write exact or another way`),
    test(_, { codes, format }, operator, value) {
      if (codes !== null || format !== null || typeof value !== 'string') return null
      // A long text is compared by its beginning alone.
      if (operator === 'eq')
        return { is: 'folded', operator: value.length < LEAST_LONG_TEXT_CHARACTERS ? 'eq' : 'starts_with', text: value }
      return operator === 'starts_with' || operator === 'contains' ? { is: 'folded', operator, text: value } : null
    },
  },
  date: {
    problem: (compared) => findTypeProblem(compared, ['date', 'datetime']),
    test(compared, { format, codes }, operator, value) {
      if (typeof value !== 'object' || codes !== null) return null
      const { from, to } = makeMatchingTimeRange(operator, value)
      if (subjectTypeOf(compared) === 'datetime') return format === null ? { is: 'instants', from, to } : null
      const days = from === null || to === null ? null : daysBetween(from, to)
      const write = format?.write ?? null
      const texts = days === null || write === null ? null : days.flatMap((day) => [...write(day)])
      return { is: 'days', from, to, texts }
    },
  },
  number: {
    problem: (compared) => findTypeProblem(compared, ['number']),
    test(_, { codes, format }, operator, value) {
      if (typeof value !== 'number' || codes !== null || format !== null) return null
      const isFrom = operator === 'eq' || operator === 'ge' || operator === 'gt'
      const isTo = operator === 'eq' || operator === 'le' || operator === 'lt'
      return { is: 'numbers', from: isFrom ? value : null, to: isTo ? value : null }
    },
  },
  code: {
    problem(compared, targets) {
      const problem = findTypeProblem(compared, ['code', 'boolean'])
      if (problem !== null) return problem
      const open = targets.find(({ codes, unlisted, column }) => column !== null && codes !== null && unlisted === 'keep')
      if (open !== undefined) return `compares by the codes of ${open.path}, which keeps codes that it does not list`
      const without = targets.find(({ codes, column }) => column !== null && codes === null)
      if (without === undefined || subjectTypeOf(compared) === 'boolean') return null
      return `compares by codes; write the codes of ${without.path}`
    },
    test(compared, { codes }, operator, value) {
      if (operator !== 'eq' || compared === 'identifier') return null
      if (codes === null) return typeof value === 'boolean' ? { is: 'booleans', values: [value] } : null
      const bare = { ...compared, paths: [''] }
      const { many: _, ...single } = bare
      const texts = [...codes].flatMap(([text, code]) => (readAttribute(single, code) === value ? [text] : []))
      return { is: 'texts', texts, trimmed: true }
    },
  },
}

/**
 * The days or instants, both included, between which a value must be for the comparison to be true; null: no bound. The comment
 * of `Interval` says when each operator is true.
 */
function makeMatchingTimeRange(operator: Comparator, { from, to }: Interval): { from: string | null; to: string | null } {
  switch (operator) {
    case 'eq':
      return { from, to }
    case 'lt':
      return { from: null, to: from }
    case 'le':
      return { from: null, to }
    case 'gt':
      return { from: to, to: null }
    case 'ge':
      return { from, to: null }
    default:
      return { from: null, to: null }
  }
}

/** Lists every day of a period; null when it is longer than a year. */
function daysBetween(from: string, to: string): readonly string[] | null {
  const first = Date.parse(`${from}T00:00:00Z`)
  const count = Math.round((Date.parse(`${to}T00:00:00Z`) - first) / DAY_MILLISECONDS) + 1
  if (!(count <= MOST_DAY_TEXTS_IN_CONDITION)) return null
  return Array.from({ length: Math.max(0, count) }, (_, at) => new Date(first + at * DAY_MILLISECONDS).toISOString().slice(0, 10))
}
