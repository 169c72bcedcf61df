/** SQL of `and`, `or`, `not` and values, for conditions on a record and on an element of a list. */

import type { Leaf, Predicate } from '@rollcall/core/model/predicate'
import { isTextStorable } from '@rollcall/database/text'

/**
 * SQL that is true when the predicate is definitely true (`asked` true), or definitely false (`asked` false). The part of a `not`
 * is written with the opposite `asked`: SQL's own `not` could also select records for which the part is unknown.
 */
export function predicateTreeSql(predicate: Predicate, asked: boolean, leafForm: (leaf: Leaf, asked: boolean) => string): string {
  switch (predicate.is) {
    case 'not':
      return predicateTreeSql(predicate.of, !asked, leafForm)
    case 'and':
    case 'or':
      return joinConditions(
        (predicate.is === 'and') === asked ? 'and' : 'or',
        predicate.of.map((part) => predicateTreeSql(part, asked, leafForm)),
      )
    default:
      return leafForm(predicate, asked)
  }
}

/** The result of the predicate for an element without values: true, false, or null for unknown. */
export function truthForEmptyElement(predicate: Predicate): boolean | null {
  switch (predicate.is) {
    case 'not': {
      const truth = truthForEmptyElement(predicate.of)
      return truth === null ? null : !truth
    }
    case 'and':
    case 'or': {
      const decides = predicate.is === 'or'
      const truths = predicate.of.map(truthForEmptyElement)
      if (truths.includes(decides)) return decides
      return truths.includes(null) ? null : !decides
    }
    default:
      return predicate.is === 'exists' ? false : null
  }
}

/** Joins SQL conditions by `and` or `or`, in brackets unless there is only one. */
export function joinConditions(word: 'and' | 'or', forms: readonly string[]): string {
  const [only] = forms
  return forms.length === 1 && only !== undefined ? only : `(${forms.join(` ${word} `)})`
}

/** The conditions that must all be true: the parts of an `and`, also of an `and` inside it. */
export function conjuncts(predicate: Predicate): readonly Predicate[] {
  return predicate.is === 'and' ? predicate.of.flatMap(conjuncts) : [predicate]
}

/** The parameters of a statement, in the order in which its text names them. */
export class ParameterList {
  readonly list: unknown[] = []

  /** Adds a value, and returns its parameter such as `$3`, with a cast if a type is given. */
  add(value: unknown, type?: string): string {
    this.list.push(value)
    return type === undefined ? `$${this.list.length}` : `$${this.list.length}::${type}`
  }
}

export type OrderOperator = '<' | '<=' | '>' | '>='

/**
 * Replaces a bound that PostgreSQL cannot store, because it has NUL or a lone surrogate, which no stored text has. The returned
 * operator and bound select the same stored texts as the given ones.
 */
export function toStorableBound(order: OrderOperator, text: string): readonly [OrderOperator, string] {
  if (isTextStorable(text)) return [order, text]
  let before = ''
  for (const character of text) {
    if (!isTextStorable(character)) {
      if (character === '\0') return [order === '<' || order === '<=' ? '<=' : '>', before]
      // No stored text has a surrogate (U+D800 to U+DFFF). U+E000 is the next code point, so it takes the place of the surrogate
      // in the bound.
      return [order === '<' || order === '<=' ? '<' : '>=', `${before}\ue000`]
    }
    before += character
  }
  return [order, before]
}

const LAST_CODE_POINT = 0x10ffff

/**
 * The first text, by code point, that comes after all texts with the prefix; null when there is none. All texts from
 * the prefix up to this text have the prefix.
 */
export function firstTextAfterPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number)
  while (points.at(-1) === LAST_CODE_POINT) points.pop()
  const last = points.pop()
  if (last === undefined) return null
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
