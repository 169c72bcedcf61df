/** Members that several admin functions share, and how times and limits are written in JSON. */
import { Timestamp, timestampInstant } from '@rollcall/protocol'
import Type, { type TSchema, type TSchemaOptions } from 'typebox'

/** Makes the schema of an object with these members and no others. */
export function closed<const Properties extends Record<string, TSchema>>(properties: Properties, options: TSchemaOptions = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options })
}

export const text = (description: string) => Type.String({ description })
export const flag = (description: string) => Type.Boolean({ description })
/** Makes the schema of an integer, from 0 by default. */
export const wholeNumber = (description: string, minimum = 0, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ minimum, maximum, description })
export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
/** Makes the schema of a point in time, as a text. */
export const instant = (description: string) => Type.Unsafe<string>({ ...Timestamp, description })

/**
 * Marks a member of an input or a result that may be personal data. The mark is in the schema, so that code that shows
 * the member can see it.
 */
export function markPersonal<Schema extends TSchema>(schema: Schema) {
  return { ...schema, 'x-personal-data': true } as const
}

/** The schema of the input of an admin function that takes no input. */
export const NO_INPUT = closed({}, { description: 'Nothing is given.' })

export const SenderId = text('sender_id of a participant.')
export const Namespace = text('Namespace of a registry: the first segment of its paths.')
export const RecordTypeName = text("One of the registry's record types.")

/** The word for an infinite limit: JSON has no infinity. */
export const UNLIMITED = 'unlimited'
/** Converts a limit from JSON: `unlimited` becomes Infinity. Null: the server's own limit applies. */
export const readLimit = (value: number | typeof UNLIMITED | null | undefined): number | null =>
  value === UNLIMITED ? Number.POSITIVE_INFINITY : (value ?? null)
/** Converts a limit for JSON: Infinity becomes `unlimited`. Null: the server's own limit applies. */
export const limitJson = (value: number | null): number | typeof UNLIMITED | null =>
  value === Number.POSITIVE_INFINITY ? UNLIMITED : value

/** Reads a time that its schema has accepted. A leap second, which `new Date(text)` would not read, becomes the next second. */
export const dateOf = (text: string): Date => new Date(timestampInstant(text) ?? Number.NaN)

/** Returns a time as text in ISO 8601, in UTC; null stays null. */
export function isoTime(time: Date): string
export function isoTime(time: Date | null): string | null
export function isoTime(time: Date | null): string | null {
  return time?.toISOString() ?? null
}
