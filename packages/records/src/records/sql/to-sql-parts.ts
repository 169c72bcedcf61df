/** The parts of conditions, the same over a record and over an element of a list: trees and values. */

import type { Leaf, Predicate } from '@rollcall/core/model/predicate'
import { isStorable } from '@rollcall/database/text'

/**
 * The tree's form that is true when the tree is `asked`: definitely true, or definitely false. A negation asks the
 * opposite of what it holds, all the way down to the leaves, so no SQL ever negates what may be null.
 */
export function treeForm(
  predicate: Predicate,
  asked: boolean,
  leafForm: (leaf: Leaf, asked: boolean) => string,
): string {
  switch (predicate.is) {
    case 'not':
      return treeForm(predicate.of, !asked, leafForm)
    case 'and':
    case 'or':
      return join(
        (predicate.is === 'and') === asked ? 'and' : 'or',
        predicate.of.map((part) => treeForm(part, asked, leafForm)),
      )
    default:
      return leafForm(predicate, asked)
  }
}

/** The truth of the tree for an element that has nothing; null for unknown. */
export function truthOfNothing(predicate: Predicate): boolean | null {
  switch (predicate.is) {
    case 'not': {
      const truth = truthOfNothing(predicate.of)
      return truth === null ? null : !truth
    }
    case 'and':
    case 'or': {
      const decides = predicate.is === 'or'
      const truths = predicate.of.map(truthOfNothing)
      if (truths.includes(decides)) return decides
      return truths.includes(null) ? null : !decides
    }
    default:
      return predicate.is === 'exists' ? false : null
  }
}

export function join(word: 'and' | 'or', forms: readonly string[]): string {
  const [only] = forms
  return forms.length === 1 && only !== undefined ? only : `(${forms.join(` ${word} `)})`
}

/** The conditions that must all be true for the tree to be true: the parts of an `and`, and of each `and` in it. */
export function conjuncts(predicate: Predicate): readonly Predicate[] {
  return predicate.is === 'and' ? predicate.of.flatMap(conjuncts) : [predicate]
}

/** Parameters in the order in which the text names them. */
export class Values {
  readonly list: unknown[] = []

  /** The parameter of the value, cast to the type. */
  add(value: unknown, type?: string): string {
    this.list.push(value)
    return type === undefined ? `$${this.list.length}` : `$${this.list.length}::${type}`
  }
}

export type Order = '<' | '<=' | '>' | '>='

/**
 * An order and a bound that PostgreSQL can hold and that say the same of every text that it holds: none of those
 * has NUL (every longer text with the same beginning would lie behind it) or a lone surrogate.
 */
export function storableBound(order: Order, text: string): readonly [Order, string] {
  if (isStorable(text)) return [order, text]
  let before = ''
  for (const character of text) {
    if (!isStorable(character)) {
      if (character === '\0') return [order === '<' || order === '<=' ? '<=' : '>', before]
      // Surrogates lie between U+D7FF and U+E000.
      return [order === '<' || order === '<=' ? '<' : '>=', `${before}\ue000`]
    }
    before += character
  }
  return [order, before]
}

const LAST = 0x10ffff

/**
 * The first text, by code point, behind all that start with the prefix: these are the texts from the prefix up to
 * it and no others. Null when nothing lies behind them.
 */
export function behindPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number)
  while (points.at(-1) === LAST) points.pop()
  const last = points.pop()
  if (last === undefined) return null
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
