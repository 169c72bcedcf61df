/** Where the documents are that the pages point to. */

const DOCS = 'https://github.com/rollcall-registry/rollcall/blob/main/docs'

export const docsAddress = (page: string, anchor?: string): string =>
  `${DOCS}/${page}${anchor === undefined ? '' : `#${anchor}`}`
