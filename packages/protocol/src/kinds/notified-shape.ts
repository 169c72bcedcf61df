/** The shape of a record in notifications, if it differs from the stored one (public standard 2.4). */

/** The way a member of the shape is made from the stored record. */
export type NotifiedAs =
  /** The value at the first place that has one; several values become a list. */
  | 'value'
  /** The values at the first place that has one; a single value becomes a list. */
  | 'list'
  /** Objects of all places; a single object becomes a list. */
  | 'objects'
  /** True or false, in whichever way it is written. */
  | 'boolean'
  /** A date as YYYY-MM-DD, if it is written as one day. */
  | 'date'
  /** An instant as ISO UTC. */
  | 'datetime'
  /** Objects {identifier_type, identifier_value} of all identifiers at the places, as the record type reads them. */
  | 'identifiers'

interface NotifiedValue {
  readonly name: string
  /** Dotted paths from the stored record, or from the object around it; other spellings of a key are found as well. */
  readonly paths: readonly string[]
  readonly as: NotifiedAs
}

/** An object, made from the first place that has an object. */
interface NotifiedObject {
  readonly name: string
  readonly paths: readonly string[]
  readonly members: readonly NotifiedMember[]
}

export type NotifiedMember = NotifiedValue | NotifiedObject

export interface NotifiedShape {
  /** The record's `@type`. */
  readonly type: string
  /** Members without a value are left out. */
  readonly members: readonly NotifiedMember[]
}
