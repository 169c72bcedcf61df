/** Turns a predicate into a text, so that equal texts mean equal predicates. */
import { canonicalJson, compareCodePoints, type JsonValue } from '@rollcall/protocol'
import type { Literal, Predicate } from '../model/predicate.ts'

/**
 * A text that is the same for predicates that differ only in the order of parts and values, in repetitions, in brackets or in
 * double negations. The text has the names of attributes and lists.
 */
export const canonicalPredicate = (predicate: Predicate): string => canonicalJson(canonicalForm(predicate))

function canonicalForm(predicate: Predicate): JsonValue {
  switch (predicate.is) {
    case 'and':
    case 'or': {
      const parts = sortUniqueValues(flattenedOperands(predicate.is, predicate.of).map(canonicalForm))
      return parts.length === 1 ? (parts[0] as JsonValue) : [predicate.is, parts]
    }
    case 'not':
      return predicate.of.is === 'not' ? canonicalForm(predicate.of.of) : ['not', canonicalForm(predicate.of)]
    case 'compare':
      return [predicate.operator, predicate.attribute.name, literalForm(predicate.value), lastDayOrNull(predicate)]
    case 'in': {
      const values = sortUniqueValues(predicate.values.map(literalForm))
      // `in` with one value is written like `eq`.
      return values.length === 1
        ? ['eq', predicate.attribute.name, values[0] as JsonValue, lastDayOrNull(predicate)]
        : ['in', predicate.attribute.name, values, lastDayOrNull(predicate)]
    }
    case 'exists':
      return ['exists', predicate.attribute.name, predicate.list?.name ?? null, lastDayOrNull(predicate)]
    case 'some':
      return ['some', predicate.list.name, canonicalForm(predicate.of)]
    case 'identifier':
      return ['identifier', sortUniqueValues(predicate.identifiers.map(({ type, value }) => [type, value]))]
    case 'identifier_type':
      return ['identifier_type', sortUniqueValues([...predicate.types])]
  }
}

/** The parts of an `and` or `or`. An `and` inside an `and`, and an `or` inside an `or`, is replaced by its own parts. */
const flattenedOperands = (is: 'and' | 'or', of: readonly Predicate[]): readonly Predicate[] =>
  of.flatMap((part) => (part.is === is ? flattenedOperands(is, part.of) : [part]))

const literalForm = (value: Literal): JsonValue => (typeof value === 'object' ? [value.from, value.to] : value)

const lastDayOrNull = (predicate: { readonly until?: string }): JsonValue => predicate.until ?? null

/** The values sorted by their texts, each once. */
function sortUniqueValues(values: readonly JsonValue[]): JsonValue[] {
  const byText = new Map(values.map((value) => [canonicalJson(value), value]))
  return [...byText].sort(([one], [other]) => compareCodePoints(one, other)).map(([, value]) => value)
}
