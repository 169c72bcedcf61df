/** The three ways in which text is made comparable. All are idempotent and never fail, whatever the text. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant, control characters included
const ASCII = /^[\x00-\x7f]*$/

/** Text that folding changes only in case: no accents, no double spaces, no backticks. */
const PLAIN = /^[\x21-\x5f\x61-\x7e]+(?: [\x21-\x5f\x61-\x7e]+)*$/

/**
 * Combining accents of European scripts; vowel marks and tatweel of Arabic; invisible characters, such as a soft
 * hyphen. Vowel signs and tone marks of other scripts, hamza and madda are parts of letters for their readers, and are
 * never dropped.
 */
const DROPPED =
  /[\u0300-\u036f\u0640\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]|\p{Cf}/gu
/** Decomposition would turn a lone acute accent into a space with an accent. */
const LONE_ACUTE = /\u00b4/g
const APOSTROPHES = /[`\u02b9\u02bb-\u02bf\u2018-\u201b\u2032]/g
const HYPHENS = /[\u2010-\u2015\u2212]/g
const SPACES = /[\s\u0085]+/g

/** Letters that Unicode does not decompose, and what is typed on keyboards without them. */
const LETTERS: ReadonlyMap<string, string> = new Map([
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
const LETTER = new RegExp(`[${[...LETTERS.keys()].join('')}]`, 'g')

/** Unicode NFC and nothing else: the form in which text "compares exactly". */
export function composed(text: string): string {
  return ASCII.test(text) ? text : text.normalize('NFC')
}

/** NFC without regard to case. */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  return withoutCase(text.normalize('NFC')).normalize('NFC')
}

/**
 * Goes through upper case, so that "ß" equals "SS" and all sigmas are equal; and first through lower case, because the
 * capital "ẞ" is its own upper case.
 */
function withoutCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase()
}

/**
 * Folds a text: NFC without case, accents, width, and kinds of spaces, apostrophes and hyphens. "Élodie", "ELODIE" and
 * "elodie" become equal. A run of white space becomes one space; space at the ends is kept.
 */
export function foldText(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
  const bare = withoutCase(withoutMarks(text))
  return withoutMarks(bare)
    .replace(LETTER, (letter) => LETTERS.get(letter) ?? letter)
    .normalize('NFC')
}

function withoutMarks(text: string): string {
  return text
    .replace(LONE_ACUTE, "'")
    .normalize('NFKD')
    .replace(DROPPED, '')
    .replace(APOSTROPHES, "'")
    .replace(HYPHENS, '-')
    .replace(SPACES, ' ')
}

/** The first `length` UTF-16 units, or one less where a pair would be cut in two. */
export function firstUnits(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length)
}
