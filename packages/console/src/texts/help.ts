/** Texts of the help. The documents are those of docs/. */
export const HELP_TEXTS = {
  lead: 'From the documents of Rollcall, as they are of the version that runs here.',
  documents: 'Documents',
  contents: 'On this page',
  unknown: 'The help has no such document',
  scrolled: { pre: 'Example', table: 'Table' },
} as const
