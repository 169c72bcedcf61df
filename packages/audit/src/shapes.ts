/** Makes the rows of entries. What many entries have in common is their shape, stored once (`store/entry-shape.ts`). */
import { sha256 } from '@rollcall/base/shared/sha256'
import type { StoredAuditEntry } from '@rollcall/core/model/audit-entry'
import { oncePerObject } from '@rollcall/core/model/once-per'
import { CanonicalText, canonicalJson } from '@rollcall/protocol'
import { mayHaveSameShape } from './alike.ts'
import {
  type ColumnLetter,
  entryTextOf,
  isLowerCaseUuid,
  type PackingLetter,
  packValue,
  type StoredEntry,
  shapeMarkOfLetter,
  splitShape,
} from './store/entry-shape.ts'

/** An entry as text, and divided into its shape and its own values. */
export interface EntryTextAndShape {
  /** The canonical JSON of the entry. */
  readonly text: string
  /** The shape of the entry; null when the entry is stored whole. */
  readonly shape: CachedShape | null
  readonly packed: Buffer | null
  readonly correlation_id: string | null
}

export interface CachedShape {
  readonly content: string
  /** SHA-256 of the content. */
  readonly digest: Buffer
  readonly pieces: readonly string[]
  /** An entry of this shape. `fields`: its `perEntryFieldsOf`. `values`: its values in place of which the shape has marks. */
  readonly sample: StoredAuditEntry
  readonly fields: PerEntryFields
  readonly values: readonly ValueOutsideShape[]
  /** True when the row of the shape is committed, as far as this process knows. */
  stored: boolean
}

let numbered = 0

/**
 * The canonical text of `shown`, and a number by which `compose` recognises the same object. Both are made once for each object:
 * answers under one grant often share the object (`audit-entry-of.ts`).
 */
const canonicalShownText = oncePerObject((shown: StoredAuditEntry['shown']) => {
  numbered += 1
  return { text: new CanonicalText(canonicalJson(shown)), number: numbered }
})

/** The shapes that this process has met, by which it makes the rows of entries. */
export interface EntryShapes {
  /** Makes the row of an entry. A shape is stored when a second entry has it, so a shape of one entry costs no row. */
  compose(entry: StoredAuditEntry, columns: MessageIdColumns): EntryTextAndShape
  /** Marks all shapes as not stored, because the database may have lost some: each is written again when it is used. */
  forget(): void
}

type MessageIdColumns = Pick<StoredEntry, 'message_id' | 'reply_message_id'>

/** The most shapes that are remembered: records of one type may show some hundred sets of attributes. */
const MOST_SHAPES = 5_000

/** The most shapes of one participant: it must not fill memory or the table with ever new requests. */
const MOST_SHAPES_PER_PARTICIPANT = 1_000

/** The most characters of a shape, whose length a peer chooses; an entry with a longer one gets no shape. */
const MOST_SHAPE_LENGTH = 8_192

export function createShapeCache(): EntryShapes {
  const met = new Map<string, { readonly of: string | null; readonly shape: CachedShape | null }>()
  const counts = new Map<string | null, number>()
  const count = (of: string | null, more: number): number => {
    const sum = (counts.get(of) ?? 0) + more
    if (sum === 0) counts.delete(of)
    else counts.set(of, sum)
    return sum
  }
  /**
   * The last used shape for each key: the entry's `shown`, participant, registry, operation and kind. `compose` tries this shape
   * first, because entries with the same key often have the same shape.
   */
  const last = new Map<string, CachedShape>()
  return {
    compose(entry, columns) {
      const whole = () => ({ text: canonicalJson(entry), shape: null, packed: null, correlation_id: null })
      const shown = canonicalShownText(entry.shown).number
      const key = `${shown}\n${entry.participant}\n${entry.registry}\n${entry.operation}\n${entry.kind}`
      const guess = last.get(key)
      const guessed =
        guess !== undefined && mayHaveSameShape(guess.sample, entry) ? findValuesOutsideShape(guess, entry, columns) : null
      if (guess !== undefined && guessed !== null) return packEntryWithShape(guess, guessed)
      const { content, values } = divideIntoShapeAndValues(entry, columns)
      const known = met.get(content)
      if (known?.shape) {
        if (last.size >= MOST_SHAPES) last.clear()
        last.set(key, known.shape)
        return packEntryWithShape(known.shape, values)
      }
      const alone = whole()
      const of = entry.participant
      if (known !== undefined || content.length > MOST_SHAPE_LENGTH || (counts.get(of) ?? 0) >= MOST_SHAPES_PER_PARTICIPANT)
        return alone
      const [oldest] = met.size >= MOST_SHAPES ? met : []
      if (oldest !== undefined) {
        met.delete(oldest[0])
        count(oldest[1].of, -1)
      }
      const digest = sha256(content)
      const sample = detachedEntryCopy(entry)
      const pieces = splitShape(content)
      const made = { content, digest, pieces, sample, fields: perEntryFieldsOf(sample), values, stored: false }
      // A shape must not have an operator's name: pruning does not delete shapes. Entries of operators are rare.
      const isShared = entry.operator === null && canRebuildEntryText(packEntryWithShape(made, values), alone.text, columns)
      met.set(content, { of, shape: isShared ? made : null })
      count(of, 1)
      return alone
    },
    forget() {
      last.clear()
      for (const { shape } of met.values()) if (shape !== null) shape.stored = false
    },
  }
}

/** Copies an entry whose texts are slices of a request's body, so that the whole body does not stay in memory. */
const detachedEntryCopy = ({ shown, ...others }: StoredAuditEntry): StoredAuditEntry => ({ ...structuredClone(others), shown })

/** Makes the row of an entry from its shape and the values between the pieces of the shape. */
function packEntryWithShape(
  shape: CachedShape,
  values: readonly ValueOutsideShape[],
): EntryTextAndShape & { readonly shape: CachedShape } {
  const { pieces } = shape
  let text = pieces[0] as string
  for (const [index, { value }] of values.entries()) text += value + (pieces[2 * index + 2] as string)
  const packed = Buffer.concat(values.flatMap(({ bytes }) => bytes ?? []))
  const correlation_id = values.find(({ mark }) => mark === 'c')?.value ?? null
  return { text, shape, packed, correlation_id }
}

/** True when the stored parts give the text of the entry again. False, for example, when a peer's text has the form of a mark. */
const canRebuildEntryText = (
  { text, shape, packed, correlation_id }: ReturnType<typeof packEntryWithShape>,
  whole: string,
  columns: MessageIdColumns,
): boolean => text === whole && entryTextOf({ content: shape.content, packed, correlation_id, ...columns }) === whole

/** The members of which each entry has its own value, in the order of canonical JSON. */
const perEntryFieldsOf = ({ consent, correlation_id, reply, request, sealed, transaction_id }: StoredAuditEntry) => ({
  jti: consent?.jti,
  correlation_id,
  reply_digest: reply?.digest,
  reply_message_id: reply?.message_id,
  reply_signature: reply?.signature,
  request_digest: request?.digest,
  request_message_id: request?.message_id,
  request_signature: request?.signature,
  sealed,
  transaction_id,
})

type PerEntryFields = ReturnType<typeof perEntryFieldsOf>
type PerEntryField = keyof PerEntryFields

/** How the values of some members are packed. Parts of signatures are packed as times or bytes, other packed values as texts. */
const FIELD_PACKINGS: Readonly<Partial<Record<PerEntryField, PackingLetter>>> = {
  jti: 'u',
  reply_digest: 'h',
  request_digest: 'h',
  transaction_id: 'u',
}

/** A value of an entry in whose place the shape has a mark, an escaped letter (`store/entry-shape.ts`). */
interface ValueOutsideShape {
  readonly field: PerEntryField
  readonly mark: PackingLetter | ColumnLetter
  /** The value as the text of the entry has it. */
  readonly value: string
  /** The packed value; null when a column has the value. */
  readonly bytes: Buffer | null
}

/** The column that has the value of a field; null when none has it. */
function findColumnOfField(
  field: PerEntryField,
  value: string,
  { message_id, reply_message_id }: MessageIdColumns,
): ColumnLetter | null {
  if (field === 'correlation_id') return isLowerCaseUuid(value) ? 'c' : null
  if (field === 'request_message_id') return value === message_id ? 'm' : null
  return field === 'reply_message_id' && value === reply_message_id ? 'r' : null
}

const COLUMN_FIELDS: readonly PerEntryField[] = ['correlation_id', 'request_message_id', 'reply_message_id']
const SIGNATURE_FIELDS: readonly PerEntryField[] = ['request_signature', 'reply_signature']

/** The canonical JSON of a text, without its quotation marks. */
const unquotedJsonText = (value: string): string => canonicalJson(value).slice(1, -1)

/** Divides an entry into its shape and the values of its marks. */
function divideIntoShapeAndValues(
  entry: StoredAuditEntry,
  columns: MessageIdColumns,
): { readonly content: string; readonly values: readonly ValueOutsideShape[] } {
  const values: ValueOutsideShape[] = []
  const add = (field: PerEntryField, mark: ValueOutsideShape['mark'], value: string, bytes: Buffer | null): string => {
    values.push({ field, mark, value, bytes })
    return shapeMarkOfLetter(mark)
  }
  const addPacked = (field: PerEntryField, value: string, names: readonly PackingLetter[]): string => {
    for (const name of names) {
      const bytes = packValue(name, value)
      if (bytes !== null) return add(field, name, value, bytes)
    }
    return value
  }
  const marked = (field: PerEntryField, text: string): string => {
    const value = unquotedJsonText(text)
    const column = findColumnOfField(field, text, columns)
    if (column !== null) return add(field, column, value, null)
    if (COLUMN_FIELDS.includes(field)) return value
    if (!SIGNATURE_FIELDS.includes(field)) return addPacked(field, value, [FIELD_PACKINGS[field] ?? 't', 't'])
    return value.replaceAll(SIGNATURE_PARTS_PATTERN, (part) => addPacked(field, part, part.length === 10 ? ['i'] : ['s', 'b']))
  }
  const shownTexts: Partial<Record<PerEntryField, CanonicalText | null>> = {}
  const fields = perEntryFieldsOf(entry)
  for (const field of Object.keys(fields) as PerEntryField[]) {
    const value = fields[field]
    if (value !== undefined) shownTexts[field] = value === null ? null : new CanonicalText(`"${marked(field, value)}"`)
  }
  const { consent, reply, request } = entry
  const members = {
    ...entry,
    consent: consent && { ...consent, jti: shownTexts.jti },
    correlation_id: shownTexts.correlation_id,
    reply: reply && {
      digest: shownTexts.reply_digest,
      kid: reply.kid,
      message_id: shownTexts.reply_message_id,
      signature: shownTexts.reply_signature,
    },
    request: request && {
      digest: shownTexts.request_digest,
      kid: request.kid,
      message_id: shownTexts.request_message_id,
      signature: shownTexts.request_signature,
    },
    sealed: shownTexts.sealed,
    shown: canonicalShownText(entry.shown).text,
    transaction_id: shownTexts.transaction_id,
  }
  return { content: canonicalJson(members), values }
}

/** The parts of a signature that differ between signatures of one key: bytes in base64, and times. */
const SIGNATURE_PARTS_PATTERN = /[A-Za-z0-9+/_-]{43,}={0,2}|(?<![0-9])[0-9]{10}(?![0-9])/g

/** The values of an entry, if its shape is that of the sample; null when it differs. */
function findValuesOutsideShape(
  { fields: ofSample, values: known }: CachedShape,
  entry: StoredAuditEntry,
  columns: MessageIdColumns,
): readonly ValueOutsideShape[] | null {
  const values: ValueOutsideShape[] = []
  const fields = perEntryFieldsOf(entry)
  let next = 0
  for (const name in fields) {
    const field = name as PerEntryField
    const value = fields[field]
    const like = ofSample[field]
    const first = known[next]
    if (first?.field !== field) {
      // The shape itself has the value of this field, so both values must be equal.
      if (value !== like) return null
      continue
    }
    if (typeof value !== 'string' || typeof like !== 'string') return null
    if (SIGNATURE_FIELDS.includes(field)) {
      const parts = findSignatureValues(unquotedJsonText(value), unquotedJsonText(like), known, next)
      if (parts === null) return null
      values.push(...parts)
      next += parts.length
      continue
    }
    const { mark } = first
    if (isColumnMark(mark)) {
      if (findColumnOfField(field, value, columns) !== mark) return null
      values.push({ field, mark, value: unquotedJsonText(value), bytes: null })
    } else {
      // Only values with the mark `t` may have characters that canonical JSON escapes.
      const text = mark === 't' ? unquotedJsonText(value) : value
      const bytes = packValue(mark, text)
      if (bytes === null) return null
      values.push({ field, mark, value: text, bytes })
    }
    next += 1
  }
  return values
}

const isColumnMark = (mark: ValueOutsideShape['mark']): mark is ColumnLetter => mark === 'c' || mark === 'm' || mark === 'r'

/** The values within a signature, if they have the same lengths, and the same texts between them, as in the sample; else null. */
function findSignatureValues(
  text: string,
  like: string,
  known: readonly ValueOutsideShape[],
  first: number,
): ValueOutsideShape[] | null {
  if (text.length !== like.length) return null
  const values: ValueOutsideShape[] = []
  let at = 0
  for (let index = first; known[index]?.field === known[first]?.field; index += 1) {
    const { field, mark, value: other } = known[index] as ValueOutsideShape
    const start = like.indexOf(other, at)
    if (isColumnMark(mark) || text.slice(at, start) !== like.slice(at, start)) return null
    at = start + other.length
    const value = text.slice(start, at)
    const bytes = packValue(mark, value)
    if (bytes === null) return null
    values.push({ field, mark, value, bytes })
  }
  return text.slice(at) === like.slice(at) ? values : null
}
