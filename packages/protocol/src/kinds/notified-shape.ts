/** The form of a record in notifications, where it differs from the stored one (public standard 2.4). */

/**
 * How a JSON member is made from the stored record. A value that cannot be read as a boolean, date or datetime is copied
 * unchanged.
 */
export type NotifiedAs =
  /** The value at the first place that has one. Several values become a list. */
  | 'value'
  /** The values at the first place that has one. A single value becomes a list. */
  | 'list'
  /** The objects at all places. A single object becomes a list. */
  | 'objects'
  /** True or false, from any spelling that attributes of type boolean accept. */
  | 'boolean'
  /** A date as YYYY-MM-DD. A month or a year is copied unchanged. */
  | 'date'
  /** An instant in ISO form and UTC. */
  | 'datetime'
  /** Objects {identifier_type, identifier_value}, from the identifiers at all places. */
  | 'identifiers'

interface NotifiedValue {
  readonly name: string
  /** Dotted paths in the stored record, or in the object that a `NotifiedObject` found, in any spelling. */
  readonly paths: readonly string[]
  readonly as: NotifiedAs
}

/** An object, made from the first of `paths` at which the record has an object with a value for one of `members`. */
interface NotifiedObject {
  readonly name: string
  readonly paths: readonly string[]
  readonly members: readonly NotifiedMember[]
}

export type NotifiedMember = NotifiedValue | NotifiedObject

/** The form of a record in notifications. */
export interface NotifiedShape {
  /** The `@type` of the record in notifications. */
  readonly type: string
  /** The members of the record in notifications; those without a value are left out. */
  readonly members: readonly NotifiedMember[]
}
