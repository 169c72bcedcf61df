/** A state, shown as a word with a colour. */
import styles from './badge.module.css'
import { type Tone, toneOfWord } from './tones.ts'

interface BadgeProps {
  /** The server's word for the state. It decides the colour unless `tone` is given. */
  readonly state: string
  /** The word for the state that readers see (default: the server's word). */
  readonly label?: string
  readonly tone?: Tone
}

export function Badge({ state, label = state, tone = toneOfWord(state) }: BadgeProps) {
  return (
    <span className={styles.badge} data-tone={tone}>
      {label}
    </span>
  )
}
