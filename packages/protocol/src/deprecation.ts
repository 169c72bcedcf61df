/** Parts that will be removed. Answers and OpenAPI documents announce it to callers. */

export interface Deprecation {
  /** The day from which it is deprecated, as `2027-01-31`. */
  readonly since: string
  /** The day from which it may be gone. */
  readonly sunset: string
}

/** The headers of an answer: `Deprecation` (RFC 9745) is a number of seconds, `Sunset` (RFC 8594) a date of HTTP. Days begin in UTC. */
export function deprecationHeaders({ since, sunset }: Deprecation): Readonly<Record<string, string>> {
  return { Deprecation: `@${Date.parse(since) / 1_000}`, Sunset: new Date(sunset).toUTCString() }
}

/** The members of an operation in an OpenAPI document. */
export function deprecatedOperation(deprecated: Deprecation | undefined): { deprecated?: true } {
  return deprecated === undefined ? {} : { deprecated: true }
}
