/** What peers say, on a terminal. */

/** Characters that a terminal would obey, or that turn the order of others round. */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}]/gu

/** A text of a peer's in one line: what cannot be seen is written as JSON would escape it. */
export function printable(text: string): string {
  return text.replace(UNSEEN, escaped)
}

/** The same of a text with line breaks of our own. */
export function printableLines(text: string): string {
  return text.replace(UNSEEN, (character) => (character === '\n' ? character : escaped(character)))
}

/** A value of a peer's as JSON with line breaks. It stays JSON: what is escaped stands in strings only. */
export function printableJson(value: unknown): string {
  return printableLines(JSON.stringify(value, null, 2))
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
