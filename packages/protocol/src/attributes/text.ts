/**
 * Makes texts comparable in one of three forms: in NFC; in NFC without case (`foldCase`); or also without accents, width, and
 * differences of spaces, apostrophes and hyphens (`foldText`). Doing it again changes nothing. Never throws.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant, control characters included
const ASCII_TEXT_PATTERN = /^[\x00-\x7f]*$/

/** Matches a text in which folding changes only the case: no accents, no double spaces, no backticks. */
const FOLDED_BY_LOWER_CASE_PATTERN = /^[\x21-\x5f\x61-\x7e]+(?: [\x21-\x5f\x61-\x7e]+)*$/

/**
 * Characters that folding removes: combining accents of European scripts, vowel marks and tatweel of Arabic, and
 * invisible characters such as a soft hyphen. Vowel signs and tone marks of other scripts, hamza and madda are parts of
 * letters, and are kept.
 */
const DROPPED_CHARACTERS =
  /[\u0300-\u036f\u0640\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]|\p{Cf}/gu
/** A lone acute accent. It first becomes an apostrophe: decomposition would make it a space with an accent. */
const LONE_ACUTE = /\u00b4/g
const APOSTROPHES = /[`\u02b9\u02bb-\u02bf\u2018-\u201b\u2032]/g
const HYPHENS = /[\u2010-\u2015\u2212]/g
const SPACES = /[\s\u0085]+/g

/** Letters that Unicode does not decompose, with what people type on keyboards without them. */
const UNDECOMPOSED_LETTERS: ReadonlyMap<string, string> = new Map([
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['þ', 'th'],
  ['ø', 'o'],
  ['ł', 'l'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['ħ', 'h'],
  ['ŧ', 't'],
  ['ƶ', 'z'],
  ['ɨ', 'i'],
  ['ʉ', 'u'],
  ['ƀ', 'b'],
  ['ɓ', 'b'],
  ['ɗ', 'd'],
  ['ƙ', 'k'],
  ['ƴ', 'y'],
])
const ANY_UNDECOMPOSED_LETTER = new RegExp(`[${[...UNDECOMPOSED_LETTERS.keys()].join('')}]`, 'g')

/** The text in Unicode NFC, otherwise unchanged: the form in which texts without `fold` are compared. */
export function normaliseToNfc(text: string): string {
  return ASCII_TEXT_PATTERN.test(text) ? text : text.normalize('NFC')
}

/** The text in NFC, without case: "É" and "é" become equal, and so do "ß" and "SS". */
export function foldCase(text: string): string {
  if (ASCII_TEXT_PATTERN.test(text)) return text.toLowerCase()
  return withoutCase(text.normalize('NFC')).normalize('NFC')
}

/** The text without case. Upper case makes "ß" equal to "SS". Lower case is applied first: it makes the capital "ẞ" a "ß". */
function withoutCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase()
}

/**
 * The text without case, accents, width, and differences of spaces, apostrophes and hyphens: "Élodie", "ELODIE" and
 * "elodie" become equal. Several spaces become one; a space at the ends is kept.
 */
export function foldText(text: string): string {
  if (FOLDED_BY_LOWER_CASE_PATTERN.test(text)) return text.toLowerCase()
  const bare = withoutCase(withoutAccentsAndVariants(text))
  return withoutAccentsAndVariants(bare)
    .replace(ANY_UNDECOMPOSED_LETTER, (letter) => UNDECOMPOSED_LETTERS.get(letter) ?? letter)
    .normalize('NFC')
}

function withoutAccentsAndVariants(text: string): string {
  return text
    .replace(LONE_ACUTE, "'")
    .normalize('NFKD')
    .replace(DROPPED_CHARACTERS, '')
    .replace(APOSTROPHES, "'")
    .replace(HYPHENS, '-')
    .replace(SPACES, ' ')
}

/** The first `length` UTF-16 units, or one less where a surrogate pair would be cut. */
export function firstUtf16Units(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length)
}
