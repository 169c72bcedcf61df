/** Follows a dotted path in a record of any shape. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { otherKeys } from './record-keys.ts'

/** One name of a dotted path, with the other spellings of the name. */
interface NameStep {
  readonly key: string
  readonly spellings: readonly string[]
}

/** A dotted path, split into its names. */
export type CompiledPath = readonly NameStep[]

/** Splits a path. The path "" means the value itself. */
export function compilePath(path: string): CompiledPath {
  if (path === '') return []
  return path.split('.').map((key) => ({ key, spellings: otherKeys(key) }))
}

/** True for null, "" and undefined, which count as no value. */
function isMissing(value: JsonValue | undefined): value is null | undefined | '' {
  return value === undefined || value === null || value === ''
}

/**
 * Reads a member: by its exact name, else by another spelling, else by its name or a spelling with a prefix, such as `spdci:sex`.
 * Undefined when it has no value.
 */
export function readMemberByStep(object: JsonObject, step: NameStep): JsonValue | undefined {
  if (Object.hasOwn(object, step.key)) {
    const value = object[step.key]
    if (!isMissing(value)) return value
  }
  for (const spelling of step.spellings) {
    if (Object.hasOwn(object, spelling) && !isMissing(object[spelling])) return object[spelling]
  }
  return findMemberByNameAfterColon(object, step)
}

/** Reads a member by its name, as `readMemberByStep` does. Of a dotted path, only the first name is used. */
export function memberNamed(object: JsonObject, name: string): JsonValue | undefined {
  const [step] = compilePath(name)
  return step && readMemberByStep(object, step)
}

function findMemberByNameAfterColon(object: JsonObject, step: NameStep): JsonValue | undefined {
  // "for in" takes a third of the time of Object.keys, and this runs for every attribute that a record lacks.
  for (const key in object) {
    if (!key.includes(':')) continue
    const name = key.slice(key.lastIndexOf(':') + 1)
    if (name !== step.key && !step.spellings.includes(name)) continue
    if (Object.hasOwn(object, key) && !isMissing(object[key])) return object[key]
  }
  return undefined
}

/**
 * Calls `visit` with each value at the end of `path` (never null or ""), in the order of the document, until `visit` returns
 * true. An array on the way or at the end stands for its elements; an array directly in an array counts as empty. Returns true
 * when `visit` ended the walk.
 */
export function visitValuesAt(value: JsonValue, path: CompiledPath, visit: (leaf: JsonValue) => boolean): boolean {
  return walkFrom(value, path, 0, visit)
}

function walkFrom(value: JsonValue, path: CompiledPath, depth: number, visit: (leaf: JsonValue) => boolean): boolean {
  if (Array.isArray(value)) {
    for (const element of value) {
      if (!Array.isArray(element) && walkFrom(element, path, depth, visit)) return true
    }
    return false
  }
  const step = path[depth]
  if (step === undefined) return !isMissing(value) && visit(value)
  if (!isJsonObject(value)) return false
  const next = readMemberByStep(value, step)
  return next !== undefined && walkFrom(next, path, depth + 1, visit)
}
