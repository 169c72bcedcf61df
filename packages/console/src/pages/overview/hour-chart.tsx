/** A chart with a bar for each of the last 24 hours, and a table with the same numbers for screen readers. */
import type { Overview } from '../../api/answers.ts'
import tableStyles from '../../parts/table.module.css'
import { numberText } from '../../parts/times.ts'
import { LOCALE } from '../../texts/common.ts'
import { OVERVIEW } from '../../texts/overview.ts'
import { countByGroup, OUTCOME_GROUPS, type OutcomeGroup, roundChartTop } from './figures.ts'
import styles from './overview.module.css'

const TEXTS = OVERVIEW.chart
/** The height of the chart, in units of its SVG. */
const CHART_HEIGHT = 132
/** The share of an hour's width that its bar takes. */
const BAR_WIDTH_SHARE = 0.68

const countText = (value: number) => numberText(value, LOCALE)
const clockText = (at: string) => new Date(at).toLocaleTimeString(LOCALE, { hour: '2-digit', minute: '2-digit' })

export function HourChart({ hours }: Pick<Overview, 'hours'>) {
  const bars = hours.toReversed().map(({ from, counted, traffic }) => {
    const byGroup = countByGroup(traffic)
    return { from, counted, byGroup, total: byGroup.good + byGroup.rejected + byGroup.refused }
  })
  const top = roundChartTop(Math.max(...bars.map(({ total }) => total)))
  const total = bars.reduce((sum, bar) => sum + bar.total, 0)
  const bad = bars.reduce((sum, { byGroup }) => sum + byGroup.rejected + byGroup.refused, 0)
  const width = 100 / bars.length
  return (
    <figure className={styles.chart} aria-label={TEXTS.name}>
      <figcaption className={styles.legend}>
        <span className={styles.legendTitle}>{TEXTS.name}</span>
        {OUTCOME_GROUPS.map((group) => (
          <span key={group} className={styles.key} data-share={group}>
            {TEXTS[group]}
          </span>
        ))}
      </figcaption>
      <div className={styles.plot}>
        <svg
          className={styles.bars}
          width="100%"
          height={CHART_HEIGHT}
          role="img"
          aria-label={TEXTS.summary(countText(total), countText(bad))}
        >
          {[0.5, 1].map((part) => (
            <line
              key={part}
              x1="0"
              x2="100%"
              y1={CHART_HEIGHT * (1 - part) + 0.5}
              y2={CHART_HEIGHT * (1 - part) + 0.5}
              className={styles.grid}
            />
          ))}
          {bars.map(({ from, counted, byGroup, total: all }, at) => (
            <g key={from}>
              <title>{`${clockText(from)}: ${counted ? TEXTS.most(countText(all)) : TEXTS.uncounted}`}</title>
              <rect x={`${at * width}%`} width={`${width}%`} y="0" height={CHART_HEIGHT} className={styles.hour} />
              {stackBars(byGroup, top).map(({ group, y, height }) => (
                <rect
                  key={group}
                  x={`${(at + (1 - BAR_WIDTH_SHARE) / 2) * width}%`}
                  width={`${width * BAR_WIDTH_SHARE}%`}
                  y={y}
                  height={height}
                  className={styles.bar}
                  data-share={group}
                />
              ))}
            </g>
          ))}
          <line x1="0" x2="100%" y1={CHART_HEIGHT - 0.5} y2={CHART_HEIGHT - 0.5} className={styles.axis} />
        </svg>
        <span className={styles.top}>{countText(top)}</span>
      </div>
      <div className={styles.clock} aria-hidden="true">
        {bars
          .filter((_, at) => at % 6 === 0)
          .map(({ from }) => (
            <span key={from}>{clockText(from)}</span>
          ))}
      </div>
      <HourTable bars={bars} />
    </figure>
  )
}

/** Stacks one bar for each group with messages in an hour, from the bottom. Each bar is at least 1.5 SVG units high. */
function stackBars(byGroup: Readonly<Record<OutcomeGroup, number>>, top: number) {
  let y = CHART_HEIGHT
  return OUTCOME_GROUPS.filter((group) => byGroup[group] > 0).map((group) => {
    const height = Math.max((byGroup[group] / top) * CHART_HEIGHT, 1.5)
    y -= height
    return { group, y, height }
  })
}

interface HourBar {
  readonly from: string
  readonly counted: boolean
  readonly byGroup: Readonly<Record<OutcomeGroup, number>>
}

const HourTable = ({ bars }: { readonly bars: readonly HourBar[] }) => (
  <div className={tableStyles.unseen}>
    <table>
      <caption>{TEXTS.name}</caption>
      <thead>
        <tr>
          <th scope="col">{TEXTS.hour}</th>
          {OUTCOME_GROUPS.map((group) => (
            <th key={group} scope="col">
              {TEXTS[group]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {bars.map(({ from, counted, byGroup }) => (
          <tr key={from}>
            <th scope="row">{clockText(from)}</th>
            {OUTCOME_GROUPS.map((group) => (
              <td key={group}>{counted ? countText(byGroup[group]) : TEXTS.uncounted}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
