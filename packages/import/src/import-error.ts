/** The import cannot continue because of its options or its source. The message has no personal data. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}
