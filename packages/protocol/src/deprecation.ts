/** Announces to callers which parts of the interface will be removed, in answers and OpenAPI documents. */

/** The day from which a part of the interface is deprecated, and the day from which it may be gone. */
export interface Deprecation {
  /** The day from which the part is deprecated, such as `2027-01-31`. */
  readonly since: string
  /** The day from which the deprecated part may be gone. */
  readonly sunset: string
}

/**
 * The headers of an answer: `Deprecation` (RFC 9745) in seconds since 1970, `Sunset` (RFC 8594) as an HTTP date. Days
 * begin in UTC.
 */
export function deprecationHeaders({ since, sunset }: Deprecation): Readonly<Record<string, string>> {
  return { Deprecation: `@${Date.parse(since) / 1_000}`, Sunset: new Date(sunset).toUTCString() }
}

/** The members that mark a deprecated operation in an OpenAPI document. */
export function deprecatedOperation(deprecated: Deprecation | undefined): { deprecated?: true } {
  return deprecated === undefined ? {} : { deprecated: true }
}
