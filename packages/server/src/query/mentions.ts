/** What a predicate asks about, by name: for statistics, and to refuse what cannot be asked about yet. */
import type { Attribute } from '@rollcall/protocol'
import type { Predicate } from '../model/predicate.ts'

/**
 * The names of the columns that a predicate asks about, each once, in order: of an attribute its name, of a compound's
 * members the compound's, of an age its date's. Identifiers have a table of their own and no name here.
 */
export function mentions(predicate: Predicate): readonly string[] {
  return [...new Set(namesIn(predicate))].sort()
}

function namesIn(predicate: Predicate): readonly string[] {
  switch (predicate.is) {
    case 'and':
    case 'or':
      return predicate.of.flatMap(namesIn)
    case 'not':
      return namesIn(predicate.of)
    case 'compare':
    case 'in':
      return [columnOf(predicate.attribute)]
    case 'exists':
      return [predicate.list === undefined ? columnOf(predicate.attribute) : predicate.list.name]
    case 'some':
      return [predicate.list.name]
    case 'identifier':
    case 'identifier_type':
      return []
  }
}

const columnOf = ({ name, since }: Attribute): string => since ?? name
