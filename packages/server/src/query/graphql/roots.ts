/** Root fields: which record type each of them means, by any of its names, in the singular and the plural. */
import type { Kind, RecordType } from '@rollcall/protocol'
import { at } from '../forms/place.ts'
import { QueryProblem } from '../problem.ts'

/** @throws QueryProblem for what is no record type of the kind */
export function rootType(kind: Kind, name: string, path: string): RecordType {
  if (name.startsWith('__')) throw new QueryProblem(at(path, name), 'introspection is not answered')
  const recordType = singulars(name)
    .map((singular) => rootsOf(kind).get(rootKey(singular)))
    .find((found) => found !== undefined)
  if (recordType !== undefined) return recordType
  const known = kind.record_types.map(({ emitted }) => camelCase(emitted))
  throw new QueryProblem(at(path, name), `must be one of ${[...new Set(known)].join(', ')}`)
}

const roots = new WeakMap<Kind, ReadonlyMap<string, RecordType>>()

/** By name; where record types share one, the first has it. */
function rootsOf(kind: Kind): ReadonlyMap<string, RecordType> {
  let table = roots.get(kind)
  if (table === undefined) {
    const made = new Map<string, RecordType>()
    for (const recordType of kind.record_types) {
      for (const name of [recordType.name, recordType.emitted, ...recordType.aliases]) {
        const key = rootKey(name)
        if (!made.has(key)) made.set(key, recordType)
      }
    }
    roots.set(kind, made)
    table = made
  }
  return table
}

/** `DisabledPerson`, `disabledPerson` and `disabled_person` are one name. */
function rootKey(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}

/** The name as it is, then what it would be the plural of. */
function singulars(name: string): string[] {
  const plurals: readonly (readonly [RegExp, string])[] = [
    [/s$/i, ''],
    [/ies$/i, 'y'],
    [/people$/i, 'person'],
  ]
  return [
    name,
    ...plurals.filter(([plural]) => plural.test(name)).map(([plural, end]) => name.replace(plural, end)),
  ]
}

function camelCase(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}
