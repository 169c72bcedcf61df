/** The shape in which a notification has a record, where it is another than the stored one (public standard 2.4). */

/** How a member of the shape is made of what stands in the stored record. */
export type NotifiedAs =
  /** What stands at the first place that has a value; several values are a list. */
  | 'value'
  /** The values of the first place that has one; a single value becomes a list. */
  | 'list'
  /** Objects of all places; a single object becomes a list. */
  | 'objects'
  /** true or false, however it is written. */
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

/** An object, made of the first of the places that is one. */
interface NotifiedObject {
  readonly name: string
  readonly paths: readonly string[]
  readonly members: readonly NotifiedMember[]
}

export type NotifiedMember = NotifiedValue | NotifiedObject

export interface NotifiedShape {
  /** The record's `@type`. */
  readonly type: string
  /** What has no value is left out. */
  readonly members: readonly NotifiedMember[]
}
