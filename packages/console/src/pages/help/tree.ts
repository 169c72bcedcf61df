/** The types of a help document. The build makes each document from a file in docs/, and the help page shows it. */

/** The tags of the elements that a help document may have. */
export const TAGS = [
  ...(['h2', 'h3', 'h4', 'p', 'ul', 'ol', 'li'] as const),
  ...(['table', 'thead', 'tbody', 'tr', 'th', 'td'] as const),
  ...(['pre', 'code', 'strong', 'em', 'a'] as const),
] as const
export type Tag = (typeof TAGS)[number]

export interface HelpElement {
  readonly tag: Tag
  /** Anchor of a heading. */
  readonly id?: string
  /** Target of a link into the help: `#/help/<document>[/<anchor>]`. */
  readonly href?: string
  readonly children: readonly HelpNode[]
}

/** A text or an element, without HTML. */
export type HelpNode = string | HelpElement

export interface HelpDocument {
  readonly title: string
  readonly nodes: readonly HelpNode[]
}

/** A row in the table of contents of the help. Its document is loaded when it is opened. */
export interface HelpContentsRow {
  readonly name: string
  readonly title: string
  readonly load: () => Promise<{ readonly document: HelpDocument }>
}
