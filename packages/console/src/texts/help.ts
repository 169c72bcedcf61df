/** Texts of the help page around the documents. The build of the console makes the documents from files in docs/. */
export const HELP_TEXTS = {
  lead: 'From the documents of Rollcall, as they are of the version that runs here.',
  documents: 'Documents',
  contents: 'On this page',
  unknown: 'The help has no such document',
  scrolled: { pre: 'Example', table: 'Table' },
} as const
