/** The values of a condition, as parameters; and texts beside those that PostgreSQL cannot hold. */
import { isStorable } from '../../db/text.ts'

/** Parameters in the order in which the text names them. */
export class Values {
  readonly list: unknown[] = []

  /** The value's place in the text, cast to the type. */
  add(value: unknown, type?: string): string {
    this.list.push(value)
    return type === undefined ? `$${this.list.length}` : `$${this.list.length}::${type}`
  }
}

export type Order = '<' | '<=' | '>' | '>='

/**
 * An order and a bound that PostgreSQL can hold and that say the same of every text that it holds: none of those
 * has NUL, before which everything longer than what stands before it would lie, or a lone surrogate.
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
