/**
 * Parts of schemas for received messages. A value that does not match its schema makes the whole request fail (400
 * err.request.bad). Everything else is checked later, item by item. Some of these schemas have no `type`, so that a value of
 * another type is accepted here and checked later: in JSON Schema, `properties` restricts objects only.
 */
import Type, { type TSchema } from 'typebox'

/** An integer of at least 1. Whether the value exceeds a limit is checked later, for each item. */
export const IntegerFromOne = Type.Integer({ minimum: 1 })

/** The page that a request asks for, in the criteria or beside them (D23). */
export const IncomingPage = Type.Object({ page_size: IntegerFromOne, page_number: Type.Optional(IntegerFromOne) })

/** A schema that checks the given members of an object, and accepts every value that is no object. */
export function schemaIgnoringNonObjects(properties: Record<string, TSchema>): TSchema {
  return Type.Unsafe<unknown>({ properties })
}

/** A schema that accepts a string only if it is a time with a zone, and every value that is no string. */
export const TimeIfString = Type.Unsafe<unknown>({ format: 'date-time' })

/** The schema for received `consent` and `authorize`: only the time `ts` inside is checked. */
export const IncomingConsent = schemaIgnoringNonObjects({ ts: TimeIfString })
