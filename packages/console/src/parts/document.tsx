/** Shows a text such as a JSON document; HTML in it is not interpreted. */

import styles from './document.module.css'
import { CopyValue } from './identifier.tsx'

interface DocumentProps {
  readonly title: string
  readonly text: string
  /** False: no button copies the text. */
  readonly copied?: boolean
}

export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2)

export function Document({ title, text, copied = true }: DocumentProps) {
  return (
    <figure className={styles.figure}>
      <figcaption className={styles.caption}>
        {title}
        {copied && <CopyValue value={text} what={title} />}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <pre className={styles.content} tabIndex={0}>
        {text}
      </pre>
    </figure>
  )
}
