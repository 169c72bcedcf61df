/**
 * Writes an enrolment ledger as text, and reads such a text. The text lists each stamp of a write (`Stamp`) once. A register or a
 * status has a number in place of its stamp: the index of the stamp in this list.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@rollcall/protocol'
import { emptyLedger, type Ledger, type ProgrammeLedger, type StatusEntry } from './ledger.ts'
import type { LastWriteRegister, Stamp } from './registers.ts'

/** Writes an enrolment ledger as text. The order is fixed, so equal ledgers give equal texts. */
export function writeLedger({ members, programmes }: Ledger): string {
  const stamps = new Map<Stamp, number>()
  const at = (stamp: Stamp): number => {
    const known = stamps.get(stamp) ?? stamps.size
    stamps.set(stamp, known)
    return known
  }
  const register = ({ value, object, members: below }: LastWriteRegister): JsonValue => {
    const bare = value === undefined ? null : at(value)
    if (object === undefined && below === undefined) return bare
    return [bare, object === undefined ? null : at(object), writeEntriesSortedByKey(below ?? new Map(), register)]
  }
  const status = ({ stamp, status, date }: StatusEntry): JsonValue => [at(stamp), status, date]
  const programme = ({ members, benefits, statuses }: ProgrammeLedger): JsonValue => [
    register(members),
    register(benefits),
    writeEntriesSortedByKey(statuses, status),
  ]
  const text = { members: register(members), programmes: writeEntriesSortedByKey(programmes, programme) }
  return JSON.stringify({ ...text, stamps: [...stamps.keys()] })
}

/**
 * A map as a list of [key, value], sorted by key. It is not written as an object, because a key may be any text, also
 * `__proto__`.
 */
const writeEntriesSortedByKey = <Value>(map: ReadonlyMap<string, Value>, write: (value: Value) => JsonValue): JsonValue =>
  [...map].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([key, value]) => [key, write(value)])

/** Reads an enrolment ledger from its text. @param text null gives a new, empty ledger */
export function readLedger(text: string | null): Ledger {
  if (text === null) return emptyLedger()
  const { members = null, programmes = [], stamps = [] }: JsonObject = objectOrEmpty(JSON.parse(text))
  const stampAt = (at: JsonValue | undefined): Stamp => String(listOrEmpty(stamps)[Number(at)] ?? '')
  const register = (value: JsonValue): LastWriteRegister => {
    const [bare = null, object = null, below = []] = Array.isArray(value) ? value : [value]
    return {
      ...(bare !== null && { value: stampAt(bare) }),
      ...(object !== null && { object: stampAt(object) }),
      ...(Array.isArray(value) && { members: readMapFromEntries(below, register) }),
    }
  }
  const status = (value: JsonValue): StatusEntry => {
    const [at, held = null, date = null] = listOrEmpty(value)
    return { stamp: stampAt(at), status: held, date: date === null ? null : String(date) }
  }
  const programme = (value: JsonValue): ProgrammeLedger => {
    const [held = null, benefits = null, statuses = []] = listOrEmpty(value)
    return { members: register(held), benefits: register(benefits), statuses: readMapFromEntries(statuses, status) }
  }
  return { members: register(members), programmes: readMapFromEntries(programmes, programme) }
}

const listOrEmpty = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : [])
const objectOrEmpty = (value: JsonValue): JsonObject => (isJsonObject(value) ? value : {})

const readMapFromEntries = <Value>(value: JsonValue, read: (value: JsonValue) => Value): Map<string, Value> =>
  new Map(
    listOrEmpty(value).map((entry) => {
      const [key = null, held = null] = listOrEmpty(entry)
      return [String(key), read(held)]
    }),
  )
