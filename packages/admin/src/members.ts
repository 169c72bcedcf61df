/** Members that several admin functions share, and how times and limits are written in JSON. */
import { Timestamp } from '@rollcall/protocol'
import Type, { type TSchema, type TSchemaOptions } from 'typebox'

/** Makes the schema of an object with these members and no others. */
export function closed<const Properties extends Record<string, TSchema>>(
  properties: Properties,
  options: TSchemaOptions = {},
) {
  return Type.Object(properties, { additionalProperties: false, ...options })
}

export const text = (description: string) => Type.String({ description })
export const flag = (description: string) => Type.Boolean({ description })
export const wholeNumber = (description: string, minimum = 0, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ minimum, maximum, description })
export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
export const instant = (description: string) => Type.Unsafe<string>({ ...Timestamp, description })

/**
 * Marks a member of an input or a result that may be personal data. The mark is in the schema, so that code that shows
 * the member can see it.
 */
export function markPersonal<Schema extends TSchema>(schema: Schema) {
  return { ...schema, 'x-personal-data': true } as const
}

export const NO_INPUT = closed({}, { description: 'Nothing is given.' })

export const SenderId = text('sender_id of a participant.')
export const Namespace = text('Namespace of a registry: the first segment of its paths.')
export const RecordTypeName = text("One of the registry's record types.")

/** The word for an infinite limit: JSON has no infinity. */
export const UNLIMITED = 'unlimited'
export const readLimit = (value: number | typeof UNLIMITED | null | undefined): number | null =>
  value === UNLIMITED ? Number.POSITIVE_INFINITY : (value ?? null)
export const limitJson = (value: number | null): number | typeof UNLIMITED | null =>
  value === Number.POSITIVE_INFINITY ? UNLIMITED : value

export function isoTime(time: Date): string
export function isoTime(time: Date | null): string | null
export function isoTime(time: Date | null): string | null {
  return time?.toISOString() ?? null
}
