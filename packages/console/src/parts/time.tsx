/** Shows a time in the reader's zone. */
import { COMMON, LOCALE } from '../texts/common.ts'
import styles from './time.module.css'
import { longTime, relativeTime, shortTime } from './times.ts'

interface TimeProps {
  /** The time in ISO 8601; null or undefined: there is none, and "never" is shown. */
  readonly at: string | null | undefined
  /** True: also shows how long ago the time was, or how long it takes until then. */
  readonly relative?: boolean
  readonly seconds?: boolean
}

export function Time({ at, relative = false, seconds = false }: TimeProps) {
  if (at === null || at === undefined) return <span className={styles.none}>{COMMON.never}</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={longTime(date, LOCALE)} className={styles.time}>
      {shortTime(date, LOCALE, { seconds })}
      {relative && <span className={styles.relative}> {relativeTime(date, new Date(), LOCALE)}</span>}
    </time>
  )
}
