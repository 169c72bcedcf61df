/** Escapes texts of peers for a terminal. */

/** Control characters, and those that change the direction of text. */
const UNSEEN_CHARACTERS = /[\p{Cc}\p{Bidi_Control}]/gu

/** Returns a peer's text as one line: unseen characters are escaped as in JSON. */
export function toPrintableLine(text: string): string {
  return text.replace(UNSEEN_CHARACTERS, escapeCharacter)
}

/** Escapes the unseen characters of a text of several lines, except line feeds: those are our own. */
export function printableLines(text: string): string {
  return text.replace(UNSEEN_CHARACTERS, (character) => (character === '\n' ? character : escapeCharacter(character)))
}

/** Returns a peer's value as JSON text with line breaks. It stays valid JSON: only strings have characters to escape. */
export function printableJson(value: unknown): string {
  return printableLines(JSON.stringify(value, null, 2))
}

const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
