/**
 * Pieces of the `incoming` schemas: the rules that a request must match to be accepted. Whatever these refuse
 * refuses the whole request (400 err.request.bad); all else is judged item by item. Nothing here names a type
 * where another type is to be judged later: `properties` alone constrains objects and lets the rest pass.
 */
import Type, { type TSchema } from 'typebox'

/** An integer of at least 1 with no maximum: above a limit is for the item to say. */
export const CountFromOne = Type.Integer({ minimum: 1 })

/** The page asked for, in the criteria or beside them (D23). */
export const IncomingPage = Type.Object({ page_size: CountFromOne, page_number: Type.Optional(CountFromOne) })

/** Constrains the named members of an object, and says nothing of any other value. */
export function whereObject(properties: Record<string, TSchema>): TSchema {
  return Type.Unsafe<unknown>({ properties })
}

/** A time stamp where the value is a string; anything else is not looked at. */
export const WhereString = Type.Unsafe<unknown>({ format: 'date-time' })

/** The time stamps inside `consent` and `authorize` (G8). */
export const IncomingConsent = whereObject({ ts: WhereString })
