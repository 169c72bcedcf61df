/**
 * How entries are stored. A shape is the canonical JSON that many entries have in common, with marks in place of their
 * own values. Shape and values give the text of an entry again, byte for byte, and that text is hashed. A mark is an
 * escaped letter, such as `\u0075`, which canonical JSON never writes. So a shape is JSON as well.
 */

/** The parts from which the text of an entry is built. */
export interface StoredEntry {
  /** The shape, or the whole entry when it has no shape. Empty when its shape is missing. */
  readonly content: string
  /** The packed values of the marks, except those with a column; null when the entry has no shape. */
  readonly packed: Buffer | null
  readonly correlation_id: string | null
  readonly message_id: string | null
  readonly reply_message_id: string | null
}

/** SQL for a `from` clause: entries of all versions, with the columns of `StoredEntry`. */
export const entriesSql = (name: string): string =>
  `(select account.*, account.tableoid, coalesce(account_shape.content, account.entry) as content
  from account left join account_shape on account_shape.digest = account.shape) as ${name}`
export const ENTRIES_WITH_CONTENT_SQL = entriesSql('account')

/** The columns of a `StoredEntry`, as SQL. */
export const STORED_ENTRY_COLUMNS = `account.content, account.packed, account.correlation_id, account.message_id, account.reply_message_id`

/** The columns whose values some marks of a shape stand for. */
type ShapeMarkColumn = 'correlation_id' | 'message_id' | 'reply_message_id'

/** A way to pack the values of a mark. `length`: the bytes of each value; null: the length is written before each value. */
interface ValuePacking {
  readonly length: number | null
  /** The bytes of a value; null when the value has another form. */
  write(value: string): Buffer | null
  read(bytes: Buffer): string
}

const LOWER_CASE_UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const DIGEST_PATTERN = /^[0-9a-f]{64}$/
const SECONDS_PATTERN = /^[1-9][0-9]{9}$/
const MOST_UNIX_SECONDS = 0xffff_ffff

/** True for a UUID in lower case: only such a text can be rebuilt from its 16 bytes. */
export const isLowerCaseUuid = (value: string): boolean => value.length === 36 && LOWER_CASE_UUID_PATTERN.test(value)

const baseEncodedPacking = (encoding: 'base64' | 'base64url'): ValuePacking => ({
  length: null,
  write(value) {
    const bytes = Buffer.from(value, encoding)
    return bytes.toString(encoding) === value ? bytes : null
  },
  read: (bytes) => bytes.toString(encoding),
})

/** The ways to pack a value, by the letter of the mark. */
const PACKINGS_BY_LETTER = {
  u: {
    length: 16,
    write: (value) => (isLowerCaseUuid(value) ? Buffer.from(value.replaceAll('-', ''), 'hex') : null),
    read(bytes) {
      const hex = bytes.toString('hex')
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
    },
  },
  h: {
    length: 32,
    write: (value) => (DIGEST_PATTERN.test(value) ? Buffer.from(value, 'hex') : null),
    read: (bytes) => bytes.toString('hex'),
  },
  i: {
    length: 4,
    write(value) {
      if (!SECONDS_PATTERN.test(value) || Number(value) > MOST_UNIX_SECONDS) return null
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(Number(value))
      return bytes
    },
    read: (bytes) => String(bytes.readUInt32BE()),
  },
  b: baseEncodedPacking('base64url'),
  s: baseEncodedPacking('base64'),
  /** A JSON text without its quotation marks. */
  t: { length: null, write: (value) => Buffer.from(value), read: (bytes) => bytes.toString() },
} as const satisfies Readonly<Record<string, ValuePacking>>

const SHAPE_MARK_COLUMNS = { c: 'correlation_id', m: 'message_id', r: 'reply_message_id' } as const satisfies Readonly<
  Record<string, ShapeMarkColumn>
>

export type PackingLetter = keyof typeof PACKINGS_BY_LETTER
export type ColumnLetter = keyof typeof SHAPE_MARK_COLUMNS

/** The mark of each letter. A shape has the mark in place of a value. */
const shapeMarksByLetter = Object.fromEntries(
  [...Object.keys(PACKINGS_BY_LETTER), ...Object.keys(SHAPE_MARK_COLUMNS)].map((name) => [
    name,
    `\\u00${name.charCodeAt(0).toString(16)}`,
  ]),
) as Readonly<Record<PackingLetter | ColumnLetter, string>>
export const shapeMarkOfLetter = (name: PackingLetter | ColumnLetter): string => shapeMarksByLetter[name]

const SHAPE_MARK_PATTERN = /\\u00([67][0-9a-f])/

/** Divides a shape: the texts between the marks, and between two texts the letter of the mark. */
export const splitShape = (shape: string): readonly string[] =>
  shape
    .split(SHAPE_MARK_PATTERN)
    .map((piece, index) => (index % 2 === 0 ? piece : String.fromCharCode(Number.parseInt(piece, 16))))

/** Packs a value in the way of this letter of a mark. @returns null: the value does not have the form for it */
export function packValue(name: PackingLetter, value: string): Buffer | null {
  const { length, write } = PACKINGS_BY_LETTER[name]
  const bytes = write(value)
  return bytes === null || length !== null ? bytes : Buffer.concat([lengthPrefix(bytes), bytes])
}

/** The length of the bytes: in one byte, or from 128 on in four bytes whose first bit is set. */
function lengthPrefix({ length }: Buffer): Buffer {
  if (length < 0x80) return Buffer.of(length)
  const lengthBytes = Buffer.alloc(4)
  lengthBytes.writeUInt32BE(length + 0x8000_0000)
  return lengthBytes
}

/** Builds the text that was hashed; null when its shape is missing, or does not fit the values. */
export function entryTextOf(stored: StoredEntry): string | null {
  const { content, packed } = stored
  if (packed === null) return content
  let at = 0
  const take = (length: number): Buffer | null => {
    at += length
    return at > packed.length ? null : packed.subarray(at - length, at)
  }
  const readValue = (name: string): string | null => {
    if (isColumnLetter(name))
      return stored[SHAPE_MARK_COLUMNS[name]] === null ? null : JSON.stringify(stored[SHAPE_MARK_COLUMNS[name]]).slice(1, -1)
    if (!isPackingLetter(name)) return null
    const packing: ValuePacking = PACKINGS_BY_LETTER[name]
    const length = packing.length ?? readLengthPrefix(take)
    const bytes = length === null ? null : take(length)
    return bytes === null ? null : packing.read(bytes)
  }
  const pieces = splitShape(content)
  let text = pieces[0] as string
  for (let index = 1; index < pieces.length; index += 2) {
    const value = readValue(pieces[index] as string)
    if (value === null) return null
    text += value + (pieces[index + 1] as string)
  }
  return text !== '' && at === packed.length ? text : null
}

const isColumnLetter = (name: string): name is ColumnLetter => Object.hasOwn(SHAPE_MARK_COLUMNS, name)
const isPackingLetter = (name: string): name is PackingLetter => Object.hasOwn(PACKINGS_BY_LETTER, name)

function readLengthPrefix(take: (length: number) => Buffer | null): number | null {
  const first = take(1)?.[0]
  if (first === undefined || first < 0x80) return first ?? null
  const rest = take(3)
  return rest === null ? null : (first - 0x80) * 0x100_0000 + rest.readUIntBE(0, 3)
}
