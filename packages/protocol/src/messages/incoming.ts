/**
 * Parts of schemas for received messages. A value that breaks them makes the whole request fail (400 err.request.bad);
 * what they leave open is checked item by item. Some of them give no `type`, so that a value of another type is
 * accepted here and checked later: `properties` alone restricts objects only.
 */
import Type, { type TSchema } from 'typebox'

/** An integer of at least 1. A value above a limit is checked with the item. */
export const CountFromOne = Type.Integer({ minimum: 1 })

/** The page that a request asks for, in the criteria or beside them (D23). */
export const IncomingPage = Type.Object({ page_size: CountFromOne, page_number: Type.Optional(CountFromOne) })

/** Restricts the named members of an object. Accepts every value that is no object. */
export function whereObject(properties: Record<string, TSchema>): TSchema {
  return Type.Unsafe<unknown>({ properties })
}

/** A string must be a time. Accepts every value that is no string. */
export const WhereString = Type.Unsafe<unknown>({ format: 'date-time' })

/** Restricts the times inside `consent` and `authorize` (G8). */
export const IncomingConsent = whereObject({ ts: WhereString })
