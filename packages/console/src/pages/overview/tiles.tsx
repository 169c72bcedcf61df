/** The main numbers of the overview; each links to a list with the details. */
import type { Overview } from '../../api/answers.ts'
import { durationText, numberText } from '../../parts/times.ts'
import { LOCALE } from '../../texts/common.ts'
import { OVERVIEW } from '../../texts/overview.ts'
import { countByGroup } from './figures.ts'
import styles from './overview.module.css'

const TEXTS = OVERVIEW.tiles
const countText = (value: number) => numberText(value, LOCALE)

export function Tiles({ overview }: { readonly overview: Overview }) {
  const { traffic, durations, deliveries, expiring } = overview
  const { good, rejected, refused } = countByGroup(traffic)
  const { p50_ms: p50, p99_ms: p99 } = durations
  return (
    <div className={styles.tiles}>
      <Tile
        to="/messages"
        title={TEXTS.messages}
        value={countText(good + rejected + refused)}
        note={TEXTS.messagesNote(countText(rejected + refused))}
      />
      <Tile
        to="/messages"
        title={TEXTS.p99}
        value={p99 === null ? '–' : durationText(p99, LOCALE)}
        note={p50 === null ? TEXTS.notMeasured : TEXTS.p99Note(durationText(p50, LOCALE))}
      />
      <Tile
        to="/deliveries?state=pending"
        title={TEXTS.waiting}
        value={countText(deliveries.waiting)}
        note={TEXTS.waitingNote(countText(deliveries.failing))}
        tone={deliveries.failing > 0 ? 'warn' : undefined}
      />
      <Tile
        to="/deliveries?state=dead"
        title={TEXTS.dead}
        value={countText(deliveries.dead)}
        note={TEXTS.deadNote}
        tone={deliveries.dead > 0 ? 'bad' : undefined}
      />
      <Tile
        to="/"
        anchor="ends"
        title={TEXTS.expiring}
        value={countText(expiring.length)}
        note={TEXTS.expiringNote}
        tone={expiring.length > 0 ? 'warn' : undefined}
      />
    </div>
  )
}

interface TileProps {
  readonly to: string
  /** The id of a part of this page, for a tile that links there. */
  readonly anchor?: string
  readonly title: string
  readonly value: string
  readonly note: string
  readonly tone?: 'warn' | 'bad' | undefined
}

function Tile({ to, anchor, title, value, note, tone }: TileProps) {
  const scroll = (event: { preventDefault(): void }) => {
    if (anchor === undefined) return
    event.preventDefault()
    document.getElementById(anchor)?.scrollIntoView()
  }
  return (
    <a className={styles.tile} href={`#${to}`} onClick={scroll} data-tone={tone}>
      <span className={styles.tileTitle}>{title}</span>
      <span className={styles.tileValue}>{value}</span>
      <span className={styles.tileNote}>{note}</span>
    </a>
  )
}
