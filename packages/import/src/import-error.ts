/** The import as a whole cannot continue, because of its options or its source. No personal data. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}
