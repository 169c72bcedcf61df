/** What went wrong with the PostgreSQL that comes along, in a sentence for the person who started Rollcall. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError'
}

/** True when `error` is a system or PostgreSQL error with one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
