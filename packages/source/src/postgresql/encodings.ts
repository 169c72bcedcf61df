/** Which texts a database of another encoding than UTF-8 can hold: it refuses a parameter with any other character. */

/** Encodings of one byte: how PostgreSQL and how the web call them, and the first byte at which both mean the same above ASCII. */
const LABELS: ReadonlyMap<string, { readonly label: string; readonly first: number }> = new Map([
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

/** Encodings of which every text may be asked for: of UTF-8, and one of bytes that nobody converts. */
const ALL: ReadonlySet<string> = new Set(['UTF8', 'SQL_ASCII'])

/** Whether this is an encoding of several bytes a character, for which we have no list of characters. */
export const isUnlisted = (encoding: string): boolean =>
  !ALL.has(encoding) && encoding !== 'LATIN1' && !LABELS.has(encoding)

export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/**
 * @param encoding as `server_encoding` has it
 * @returns null: every text may be asked for, or nobody knows which (`isUnlisted`)
 */
export function holdsOnly(encoding: string): ((text: string) => boolean) | null {
  if (encoding === 'LATIN1') return (text) => /^[\0-\xff]*$/.test(text)
  const found = LABELS.get(encoding)
  if (found === undefined) return null
  const bytes = Uint8Array.from({ length: 0x100 - found.first }, (_, at) => found.first + at)
  // What the web reads as a control character is a gap in PostgreSQL.
  const above = new Set(
    [...new TextDecoder(found.label).decode(bytes)].filter((one) => one >= '\xa0' && one !== '\ufffd'),
  )
  return (text) => [...text].every((one) => one < '\x80' || above.has(one))
}
