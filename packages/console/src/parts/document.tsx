/** A JSON document as text: nothing of it is read as HTML. */

import styles from './document.module.css'
import { CopyValue } from './identifier.tsx'

interface DocumentProps {
  readonly title: string
  readonly value: unknown
}

export function Document({ title, value }: DocumentProps) {
  const text = JSON.stringify(value, null, 2)
  return (
    <figure className={styles.figure}>
      <figcaption className={styles.caption}>
        {title}
        <CopyValue value={text} what={title} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <pre className={styles.content} tabIndex={0}>
        {text}
      </pre>
    </figure>
  )
}
