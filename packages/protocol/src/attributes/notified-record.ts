/** Changes a stored record into the form for notifications, which is `notified_as` of its record type. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { Kind, RecordType } from '../kinds/kind.ts'
import type { NotifiedAs, NotifiedMember } from '../kinds/notified-shape.ts'
import { SCALAR_READERS } from './attribute-types.ts'
import { dayInterval, readInstantText } from './dates.ts'
import { heldAt } from './held.ts'
import { writtenIdentifiers } from './read-identifiers.ts'

/** The record in the form for notifications; the same object when the record type has no `notified_as`. */
export function notifiedRecord(kind: Kind, recordType: RecordType, document: JsonValue): JsonValue {
  const shape = recordType.notified_as
  if (shape === undefined) return document
  return { '@type': shape.type, ...makeNotifiedMembers({ kind, recordType }, shape.members, document) }
}

/** For each path, the function that reads it, made at its first use. */
const readersByPath = new Map<string, (document: JsonValue) => JsonValue[]>()

function readValuesAtPath(path: string, from: JsonValue): JsonValue[] {
  const read = readersByPath.get(path) ?? heldAt(path)
  readersByPath.set(path, read)
  return read(from)
}

interface RecordKindAndType {
  readonly kind: Kind
  readonly recordType: RecordType
}

function makeNotifiedMembers(scope: RecordKindAndType, members: readonly NotifiedMember[], from: JsonValue): JsonObject {
  const made: JsonObject = {}
  for (const member of members) {
    const value = 'members' in member ? makeNotifiedObject(scope, member, from) : makeNotifiedValue(scope, member, from)
    if (value !== undefined) made[member.name] = value
  }
  return made
}

function makeNotifiedObject(
  scope: RecordKindAndType,
  { paths, members }: Extract<NotifiedMember, { members: unknown }>,
  from: JsonValue,
): JsonObject | undefined {
  for (const path of paths) {
    const found = readValuesAtPath(path, from).find(isJsonObject)
    if (found === undefined) continue
    const made = makeNotifiedMembers(scope, members, found)
    if (Object.keys(made).length > 0) return made
  }
  return undefined
}

function makeNotifiedValue(
  scope: RecordKindAndType,
  { paths, as }: Extract<NotifiedMember, { as: unknown }>,
  from: JsonValue,
): JsonValue | undefined {
  if (as === 'identifiers') return listUnlessEmpty(identifiersAt(scope, paths, from))
  if (as === 'objects') return listUnlessEmpty(paths.flatMap((path) => readValuesAtPath(path, from)).filter(isJsonObject))
  const values = paths.map((path) => readValuesAtPath(path, from)).find((found) => found.length > 0)
  const [first, ...others] = values ?? []
  if (values === undefined || first === undefined) return undefined
  if (as === 'list' || (as === 'value' && others.length > 0)) return values
  return NOTIFIED_VALUE_CONVERTERS[as](first)
}

const listUnlessEmpty = (values: readonly JsonValue[]): JsonValue | undefined => (values.length === 0 ? undefined : [...values])

/** For each `NotifiedAs` of a single value, the function that converts it; it returns other values unchanged. */
const NOTIFIED_VALUE_CONVERTERS: Readonly<
  Record<Exclude<NotifiedAs, 'identifiers' | 'objects' | 'list'>, (raw: JsonValue) => JsonValue>
> = {
  value: (raw) => raw,
  boolean: (raw) => (SCALAR_READERS.boolean(raw, BOOLEAN_ATTRIBUTE) as boolean | null) ?? raw,
  date: (raw) => {
    const days = typeof raw === 'string' ? dayInterval(raw) : null
    return days !== null && days.from === days.to ? days.from : raw
  },
  datetime: (raw) => (typeof raw === 'string' ? (readInstantText(raw) ?? raw) : raw),
}
/** The attribute that `SCALAR_READERS.boolean` needs as an argument. It reads nothing of the attribute. */
const BOOLEAN_ATTRIBUTE = { name: 'flag', paths: [], type: 'boolean' } as const

/**
 * The identifiers at the paths, each once. An identifier that names no type gets the type that the record type has for its path;
 * without one it is left out.
 */
function identifiersAt({ kind, recordType }: RecordKindAndType, paths: readonly string[], from: JsonValue): JsonObject[] {
  const identifiers = paths.map(
    (path) => recordType.identifiers.find((one) => one.path === path) ?? { path, names: 'record' as const },
  )
  return writtenIdentifiers(kind, { identifiers }, from).map(({ written }) => ({ '@type': 'Identifier', ...written }))
}
