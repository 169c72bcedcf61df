/** Finds which texts a database can store when its encoding is not UTF-8: others are refused as parameters. */

/**
 * Encodings with one byte for each character: their names in PostgreSQL and in the Encoding Standard, and the first byte above
 * ASCII. From this byte on, PostgreSQL and the Encoding Standard have the same characters.
 */
const SINGLE_BYTE_ENCODINGS: ReadonlyMap<string, { readonly label: string; readonly first: number }> = new Map([
  ...[2, 3, 4].map((part) => [`LATIN${part}`, { label: `iso-8859-${part}`, first: 0xa0 }] as const),
  ...[5, 6, 7, 8].map((part) => [`ISO_8859_${part}`, { label: `iso-8859-${part}`, first: 0xa0 }] as const),
  ['LATIN5', { label: 'windows-1254', first: 0xa0 }],
  ...[10, 13, 14, 15, 16].map((part, at) => [`LATIN${at + 6}`, { label: `iso-8859-${part}`, first: 0xa0 }] as const),
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((n) => [`WIN125${n}`, { label: `windows-125${n}`, first: 0x80 }] as const),
  ['WIN866', { label: 'ibm866', first: 0x80 }],
  ['WIN874', { label: 'windows-874', first: 0x80 }],
  ['KOI8R', { label: 'koi8-r', first: 0x80 }],
  ['KOI8U', { label: 'koi8-u', first: 0x80 }],
])

/** Encodings that have every character: UTF-8, and the one whose bytes are never converted. */
const ENCODINGS_OF_ALL_CHARACTERS: ReadonlySet<string> = new Set(['UTF8', 'SQL_ASCII'])

/** True when we have no list of the encoding's characters, as for those with several bytes for a character. */
export const hasUnknownCharacters = (encoding: string): boolean =>
  !ENCODINGS_OF_ALL_CHARACTERS.has(encoding) && encoding !== 'LATIN1' && !SINGLE_BYTE_ENCODINGS.has(encoding)

export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/**
 * Makes a function that says whether a text can be stored.
 * @param encoding the value of `server_encoding`
 * @returns null: no function is needed, because every text can be stored; or none can be made (`hasUnknownCharacters`)
 */
export function makeStorableTextTest(encoding: string): ((text: string) => boolean) | null {
  if (encoding === 'LATIN1') return (text) => /^[\0-\xff]*$/.test(text)
  const found = SINGLE_BYTE_ENCODINGS.get(encoding)
  if (found === undefined) return null
  const bytes = Uint8Array.from({ length: 0x100 - found.first }, (_, at) => found.first + at)
  // The characters above ASCII that can be stored. Those before \xa0 are control characters, which PostgreSQL does not have here.
  const above = new Set([...new TextDecoder(found.label).decode(bytes)].filter((one) => one >= '\xa0' && one !== '\ufffd'))
  return (text) => [...text].every((one) => one < '\x80' || above.has(one))
}
