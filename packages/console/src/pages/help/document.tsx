/** A document of the help as elements, with the list of its sections. */
import { createElement, type ReactNode, useEffect } from 'react'
import { helpAddress } from '../../parts/help-address.ts'
import { HELP_TEXTS } from '../../texts/help.ts'
import styles from './help.module.css'
import type { HelpElement, HelpNode, Tag } from './tree.ts'

/** Prefixes the anchors of a document, so that they differ from the ids of the console. */
const helpElementId = (anchor: string): string => `help-${anchor}`

const nodeText = (node: HelpNode): string => (typeof node === 'string' ? node : node.children.map(nodeText).join(''))

interface ContentsProps {
  readonly name: string
  readonly nodes: readonly HelpNode[]
}

export function TableOfContents({ name, nodes }: ContentsProps) {
  const sections = nodes.filter((node): node is HelpElement => typeof node === 'object' && node.tag === 'h2')
  if (sections.length < 2) return null
  return (
    <nav className={styles.contents} aria-label={HELP_TEXTS.contents}>
      <ul>
        {sections.map((section) => (
          <li key={section.id}>
            <a href={helpAddress(name, section.id)}>{nodeText(section)}</a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

interface ProseProps {
  readonly nodes: readonly HelpNode[]
  /** The anchor of the section that the address names; undefined: it names none. */
  readonly anchor: string | undefined
}

export function Prose({ nodes, anchor }: ProseProps) {
  useEffect(() => {
    if (anchor === undefined) return
    // Waits until `PageFrame` has set the focus on the title of the page.
    const frame = requestAnimationFrame(() => {
      const section = document.getElementById(helpElementId(anchor))
      section?.focus({ preventScroll: true })
      section?.scrollIntoView()
    })
    return () => cancelAnimationFrame(frame)
  }, [anchor])
  return <div className={styles.prose}>{nodes.map(renderNode)}</div>
}

/** The label for each tag whose elements may be wider than the page: readers can scroll them, also by keyboard. */
const SCROLL_LABELS: Readonly<Partial<Record<Tag, string>>> = HELP_TEXTS.scrolled

function renderNode(node: HelpNode, at: number): ReactNode {
  if (typeof node === 'string') return node
  const { tag, id, href, children } = node
  const given = id === undefined ? { href } : { id: helpElementId(id), tabIndex: -1 }
  const element = createElement(tag, { key: at, ...given }, ...children.map(renderNode))
  const label = SCROLL_LABELS[tag]
  if (label === undefined) return element
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <figure key={at} className={styles.scrolled} tabIndex={0} aria-label={label}>
      {element}
    </figure>
  )
}
