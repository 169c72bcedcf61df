/**
 * Rewrites times in results (answers and callbacks) that have a space before the time of day, a zone such as +0000, or no zone.
 * In a request such times are refused, because the sender can correct the request. A result is accepted, because somebody waits
 * for it: a missing zone means UTC, and the receiver of the result is told where a zone was missing.
 */
import type { TSchema } from 'typebox'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'
import { type PathStep, pathText } from './paths.ts'
import { normaliseTimestamp } from './timestamps.ts'
import type { ObjectSchema } from './tolerance-plan.ts'

interface TimeSchemaPart extends ObjectSchema {
  readonly format?: string
  readonly properties?: Readonly<Record<string, TimeSchemaPart>>
  readonly items?: TimeSchemaPart
  readonly anyOf?: readonly TimeSchemaPart[]
}

/** A result whose times are in RFC 3339 form with a zone, except those that cannot be read. */
export interface InUtc {
  readonly value: JsonValue
  /** The places where a zone was missing, such as `message.search_response[0].timestamp`. */
  readonly assumed_utc: readonly string[]
}

/**
 * Rewrites the times in a value, and adds `Z` where a zone is missing. Only members that the schema declares as times
 * are changed; records stay as they are.
 * @param path the place of the value, such as `message`
 */
export function inUtc(schema: TSchema, value: JsonValue, path: string): InUtc {
  const places: PathStep[][] = []
  const read = (part: TimeSchemaPart, value: JsonValue, at: readonly PathStep[]): JsonValue => {
    if (part.anyOf !== undefined) return part.anyOf.reduce((read1, branch) => read(branch, read1, at), value)
    if (typeof value === 'string' && part.format === 'date-time') {
      const { text, zone } = normaliseTimestamp(value)
      if (zone === 'missing') places.push([...at])
      return text
    }
    const { items, properties } = part
    if (Array.isArray(value) && items !== undefined) {
      return value.map((element, index) => read(items, element, [...at, index]))
    }
    if (!isJsonObject(value) || properties === undefined) return value
    const changed: JsonObject = { ...value }
    for (const [name, inner] of Object.entries(properties)) {
      const member = Object.hasOwn(value, name) ? value[name] : undefined
      if (member !== undefined) changed[name] = read(inner, member, [...at, name])
    }
    return changed
  }
  const made = read(schema as TimeSchemaPart, value, [])
  const text = (steps: readonly PathStep[]): string => `${path}.${pathText(steps)}`
  return { value: made, assumed_utc: places.map(text) }
}

/** The member `assumed_utc` of a result, with the places where a zone was missing; no member when there are none. */
export const assumedUtc = (...places: readonly (readonly string[])[]): { assumed_utc?: readonly string[] } => {
  const assumed_utc = places.flat()
  return assumed_utc.length === 0 ? {} : { assumed_utc }
}
