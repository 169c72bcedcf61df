/** Reads the description of a table in the binlog, as far as the keys of its rows need it. */

import { LogLost } from '../engine/change-log.ts'
import type { KeyColumnsByTable, LoggedKeyColumn } from '../engine/logged-keys.ts'

/** How long a value is: each has `bytes` bytes; or each has its length before it in the log, as a number of `prefix` bytes. */
export type ValueSize = { readonly bytes: number } | { readonly prefix: number }

/** A column whose value is the key of a record. */
export interface KeyColumn {
  readonly recordTypes: readonly string[]
  /** Decodes the key to the text that a query of the table returns. */
  read(value: Buffer): string
}

/** The sizes of all columns of a table, and its columns with keys, by position. */
export interface LoggedTableLayout {
  readonly sizes: readonly ValueSize[]
  readonly keys: ReadonlyMap<number, KeyColumn>
}

/** The character sets by the numbers of collations, as the server has them. */
export type CharsetsByCollation = ReadonlyMap<number, string>

/** The character sets in which keys can be read, each with the encoding that decodes them. */
export const ENCODINGS_BY_CHARSET: Readonly<Record<string, string>> = {
  utf8mb4: 'utf-8',
  utf8mb3: 'utf-8',
  ascii: 'utf-8',
  latin1: 'windows-1252',
}

interface LoggedColumnType {
  /** The number of bytes of metadata that the log has for a column of this type. */
  readonly metadata: number
  /** Computes the size of values. @param a the first byte of the metadata @param b the second one */
  size(a: number, b: number): ValueSize
  readonly integer?: number
}

const fixedSizeType = (bytes: number): LoggedColumnType => ({ metadata: 0, size: () => ({ bytes }) })
const integerType = (bytes: number): LoggedColumnType => ({ ...fixedSizeType(bytes), integer: bytes })
/**
 * A type of times whose metadata is the number of digits after the seconds.
 * @param bytes the size of a value without these digits
 */
const timeWithFractionType = (bytes: number): LoggedColumnType => ({
  metadata: 1,
  size: (digits) => ({ bytes: bytes + Math.ceil(digits / 2) }),
})
/** A type whose metadata is the size of the column's values. */
const sizeInMetadataType: LoggedColumnType = { metadata: 1, size: (bytes) => ({ bytes }) }
const blobType: LoggedColumnType = { metadata: 1, size: (prefix) => ({ prefix }) }
const varcharType: LoggedColumnType = { metadata: 2, size: (a, b) => ({ prefix: a + 256 * b > 255 ? 2 : 1 }) }
const enumOrSetType: LoggedColumnType = { metadata: 2, size: (_, bytes) => ({ bytes }) }
/** The bytes that the digits before or after the point of a decimal have. @param count the number of digits */
const decimalByteCount = (count: number): number => Math.floor(count / 9) * 4 + Math.ceil((count % 9) / 2)

const [VARCHAR, ENUM, SET, STRING] = [15, 247, 248, 254]
const DECIMAL_TYPE = 246
const YEAR_TYPE = 13

/**
 * The column types by their numbers. The types that MariaDB had for times before version 10.1 are missing, because the log does
 * not say how many bytes their values have.
 */
const BINLOG_TYPES: ReadonlyMap<number, LoggedColumnType> = new Map([
  [1, integerType(1)],
  [2, integerType(2)],
  [9, integerType(3)],
  [3, integerType(4)],
  [8, integerType(8)],
  [YEAR_TYPE, fixedSizeType(1)],
  [4, sizeInMetadataType],
  [5, sizeInMetadataType],
  [DECIMAL_TYPE, { metadata: 2, size: (all, scale) => ({ bytes: decimalByteCount(all - scale) + decimalByteCount(scale) }) }],
  [10, fixedSizeType(3)],
  [14, fixedSizeType(3)],
  [17, timeWithFractionType(4)],
  [18, timeWithFractionType(5)],
  [19, timeWithFractionType(3)],
  [16, { metadata: 2, size: (bits, bytes) => ({ bytes: bytes + (bits > 0 ? 1 : 0) }) }],
  [VARCHAR, varcharType],
  [253, varcharType],
  // The first byte has the type, and the second one the length up to 255. Two bits of the first byte, inverted, are bits 8 and 9
  // of the length.
  [STRING, { metadata: 2, size: (a, b) => ({ prefix: (((a & 0x30) ^ 0x30) << 4) + b > 255 ? 2 : 1 }) }],
  [ENUM, enumOrSetType],
  [SET, enumOrSetType],
  [252, blobType],
  [255, blobType],
  [140, blobType], // a compressed blob
  [141, varcharType], // a compressed varchar
])

/** Types of columns for which the log says whether they are unsigned. */
const NUMBER_TYPES: ReadonlySet<number> = new Set([1, 2, 9, 3, 8, 4, 5, DECIMAL_TYPE, YEAR_TYPE])
/** Types of columns for which the log has a collation. Geometries are among them. */
const COLLATED_TYPES: ReadonlySet<number> = new Set([VARCHAR, 253, STRING, 252, 255, 140, 141])
/** Types of columns whose values can be keys that are texts. */
const TEXT_KEY_TYPES: ReadonlySet<number> = new Set([VARCHAR, STRING, 252])

/** A column of any logged table, as the log describes it. */
interface LoggedTableColumn {
  readonly type: number
  readonly size: ValueSize
  name: string
  isUnsigned: boolean
  collation: number
}

/**
 * Reads the sizes of the columns of a table, and which columns have keys.
 * @param bytes the event without its header
 * @returns null: the source file does not name the table
 * @throws LogLost, RangeError the event cannot be understood
 */
export function readTableMap(bytes: Buffer, parts: KeyColumnsByTable, charsets: CharsetsByCollation): LoggedTableLayout | null {
  const reader = new FieldReader(bytes, 8)
  const name = `${reader.text(1)}.${reader.text(1)}`
  const wanted = parts.get(name)
  if (wanted === undefined) return null
  const types = [...reader.bytes(reader.count())]
  const columns = readColumns(types, new FieldReader(reader.bytes(reader.count()), 0))
  reader.bytes(Math.ceil(columns.length / 8))
  addNamesSignsAndCollations(columns, reader)
  return { sizes: columns.map(({ size }) => size), keys: keyColumnsOf(columns, wanted, charsets) }
}

function readColumns(types: readonly number[], metadata: FieldReader): readonly LoggedTableColumn[] {
  return types.map((given): LoggedTableColumn => {
    const known = BINLOG_TYPES.get(given)
    if (known === undefined) throw new LogLost(`a column has the type ${given}`)
    const [a = 0, b = 0] = metadata.bytes(known.metadata)
    // For `enum` and `set`, the log says "string", and the metadata has the true type.
    const type = given === STRING && (a === ENUM || a === SET) ? a : given
    const size = (BINLOG_TYPES.get(type) ?? known).size(a, b)
    return { type, size, name: '', isUnsigned: false, collation: 0 }
  })
}

/**
 * Sets the name, the collation, and whether numbers are unsigned, in each column. The log has all three only with
 * binlog_row_metadata = FULL; without names, `keyColumnsOf` throws LogLost.
 */
function addNamesSignsAndCollations(columns: readonly LoggedTableColumn[], reader: FieldReader): void {
  const numbers = columns.filter(({ type }) => NUMBER_TYPES.has(type))
  const texts = columns.filter(({ type }) => COLLATED_TYPES.has(type))
  while (reader.hasMore) {
    const [member] = reader.bytes(1)
    const value = new FieldReader(reader.bytes(reader.count()), 0)
    if (member === 1) {
      const signs = value.bytes(Math.ceil(numbers.length / 8))
      for (const [at, one] of numbers.entries()) one.isUnsigned = ((signs[at >> 3] ?? 0) & (0x80 >> (at & 7))) !== 0
    } else if (member === 2) {
      const usual = value.count()
      for (const one of texts) one.collation = usual
      while (value.hasMore) {
        const other = texts[value.count()]
        const collation = value.count()
        if (other !== undefined) other.collation = collation
      }
    } else if (member === 3) for (const one of texts) one.collation = value.count()
    else if (member === 4) for (const one of columns) one.name = value.bytes(value.count()).toString('utf8')
  }
}

function keyColumnsOf(
  columns: readonly LoggedTableColumn[],
  parts: readonly LoggedKeyColumn[],
  charsets: CharsetsByCollation,
): ReadonlyMap<number, KeyColumn> {
  const keys = new Map<number, KeyColumn>()
  for (const { key, recordType } of parts) {
    const at = columns.findIndex(({ name }) => name.toLowerCase() === key.toLowerCase())
    const column = columns[at]
    if (column === undefined) throw new LogLost('a table has no column of the name of its key')
    const { recordTypes = [] } = keys.get(at) ?? {}
    keys.set(at, { recordTypes: [...recordTypes, recordType], read: keyDecoderOf(column, charsets) })
  }
  return keys
}

function keyDecoderOf(
  { type, isUnsigned, collation }: LoggedTableColumn,
  charsets: CharsetsByCollation,
): (value: Buffer) => string {
  const bytes = BINLOG_TYPES.get(type)?.integer
  if (bytes === 8) return (value) => String(isUnsigned ? value.readBigUInt64LE(0) : value.readBigInt64LE(0))
  if (bytes !== undefined) {
    return (value) => String(isUnsigned ? value.readUIntLE(0, bytes) : value.readIntLE(0, bytes))
  }
  const encoding = TEXT_KEY_TYPES.has(type) ? ENCODINGS_BY_CHARSET[charsets.get(collation) ?? ''] : undefined
  if (encoding === undefined) throw new LogLost('a key has a type that is not read in the log')
  const decoder = new TextDecoder(encoding, { ignoreBOM: true })
  return (value) => decoder.decode(value)
}

/** Reads the fields of an event, one after another. @throws RangeError the event has fewer bytes */
class FieldReader {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length
  }

  bytes(count: number): Buffer {
    const end = this.#at + count
    if (end > this.#bytes.length) throw new RangeError('the description of a table is too short')
    const found = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return found
  }

  /** Reads a name that has its length before it and a zero byte after it. */
  text(prefix: number): string {
    const length = this.bytes(prefix).readUIntLE(0, prefix)
    return this.bytes(length + 1).toString('utf8', 0, length)
  }

  /** Reads a number of one, three or four bytes. @throws RangeError the number has more bytes */
  count(): number {
    const [first = 0] = this.bytes(1)
    if (first < 251) return first
    const size = { 252: 2, 253: 3 }[first]
    if (size === undefined) throw new RangeError('a number in the description of a table is too large')
    return this.bytes(size).readUIntLE(0, size)
  }
}
