/** A document of the help: what the build makes of a file in docs/, and what the page shows of it. */

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
  /** Of a link into the help: `#/help/<document>/<anchor>`. */
  readonly href?: string
  readonly children: readonly HelpNode[]
}

/** A text, or an element. There is no HTML in it. */
export type HelpNode = string | HelpElement

export interface HelpDocument {
  readonly title: string
  readonly nodes: readonly HelpNode[]
}

/** A document in the list of the help; its content is loaded when it is opened. */
export interface HelpRow {
  readonly name: string
  readonly title: string
  readonly load: () => Promise<{ readonly document: HelpDocument }>
}
