/**
 * The import cannot begin or continue: an option, the source, or another running import prevents it. The message has no personal
 * data.
 */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}
