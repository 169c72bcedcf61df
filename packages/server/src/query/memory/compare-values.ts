/** One comparison in memory, in three-valued logic. */
import { type AttributeScalar, compareCodePoints } from '@rollcall/protocol'
import type { Comparator, Interval, Literal } from '../../model/predicate.ts'

/** In this order `and` is the least of its parts, `or` the greatest, and `not` the sign turned round. */
export type Truth = typeof FALSE | typeof UNKNOWN | typeof TRUE
export const FALSE = -1
export const UNKNOWN = 0
export const TRUE = 1

/** One value of a record, undefined where it has none, against a literal; both as the attribute's type reads them. */
export function compareValues(
  operator: Comparator,
  value: AttributeScalar | undefined,
  literal: Literal,
): Truth {
  if (value === undefined) return UNKNOWN
  if (typeof literal === 'object') {
    if (typeof value === 'object') return compareIntervals(operator, value.from, value.to, literal)
    // An instant is a period without length.
    if (typeof value === 'string') return compareIntervals(operator, value, value, literal)
  } else if (operator === 'eq') {
    return value === literal ? TRUE : FALSE
  } else if (typeof value === 'string' && typeof literal === 'string') {
    return compareTexts(operator, value, literal) ? TRUE : FALSE
  } else if (typeof value === 'number' && typeof literal === 'number') {
    return isOrdered(operator, value - literal) ? TRUE : FALSE
  }
  throw new Error(`what is compared by ${operator} is of two types`)
}

function compareTexts(operator: Comparator, text: string, literal: string): boolean {
  if (operator === 'starts_with') return text.startsWith(literal)
  if (operator === 'contains') return text.includes(literal)
  return isOrdered(operator, compareCodePoints(text, literal))
}

/** `difference`: below, at or above 0 as what is asked is before, at or after what it is compared with. */
function isOrdered(operator: Comparator, difference: number): boolean {
  switch (operator) {
    case 'lt':
      return difference < 0
    case 'le':
      return difference <= 0
    case 'gt':
      return difference > 0
    case 'ge':
      return difference >= 0
    default:
      throw new Error(`${operator} asks for no order`)
  }
}

/** The table of `Interval`. Days and instants are written so that their text's order is time's. */
function compareIntervals(operator: Comparator, from: string, to: string, literal: Interval): Truth {
  switch (operator) {
    case 'eq':
      return decided(from >= literal.from && to <= literal.to, to < literal.from || from > literal.to)
    case 'lt':
      return decided(to < literal.from, from >= literal.from)
    case 'le':
      return decided(to <= literal.to, from > literal.to)
    case 'gt':
      return decided(from > literal.to, to <= literal.to)
    case 'ge':
      return decided(from >= literal.from, to < literal.from)
    default:
      throw new Error(`${operator} does not compare periods`)
  }
}

function decided(yes: boolean, no: boolean): Truth {
  if (yes) return TRUE
  return no ? FALSE : UNKNOWN
}
