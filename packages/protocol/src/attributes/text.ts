/** The three ways in which text is made comparable. All are idempotent and never fail, whatever the text. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant, control characters included
const ASCII = /^[\x00-\x7f]*$/

/**
 * Combining accents of the European scripts. Vowel signs and tone marks of other scripts lie elsewhere and
 * are letters to their readers: they are never dropped.
 */
const ACCENTS = /[\u0300-\u036f]/g

/** Unicode NFC and nothing else: the form in which text "compares exactly". */
export function composed(text: string): string {
  return ASCII.test(text) ? text : text.normalize('NFC')
}

/** NFC without regard to case. By way of upper case, so that "ß" equals "SS" and every sigma is one sigma. */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  return text.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC')
}

/** NFC without regard to case and accents: "Élodie", "ELODIE" and "elodie" are one text. */
export function foldCaseAndAccents(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  const bare = text.normalize('NFD').replace(ACCENTS, '')
  return bare.toUpperCase().toLowerCase().normalize('NFD').replace(ACCENTS, '').normalize('NFC')
}
