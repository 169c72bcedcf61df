/** Messages by hour, as a chart, and by operation, as a table. */
import type { Overview } from '../../api/answers.ts'
import { Badge } from '../../parts/badge.tsx'
import { Panel, Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, DataTable, rowsAsQuery } from '../../parts/table.tsx'
import { durationText, numberText } from '../../parts/times.ts'
import { LOCALE } from '../../texts/common.ts'
import { OVERVIEW } from '../../texts/overview.ts'
import { NEXT_STEPS } from '../../texts/steps.ts'
import { sumOutcomes } from './figures.ts'
import { HourChart } from './hour-chart.tsx'
import styles from './overview.module.css'

const TEXTS = OVERVIEW.operations
const countText = (value: number) => numberText(value, LOCALE)
const durationOrDash = (ms: number | null) => (ms === null ? '–' : durationText(ms, LOCALE))

type Operation = Overview['traffic'][number]

const OPERATION_COLUMNS: readonly Column<Operation>[] = [
  { title: TEXTS.operation, cell: ({ operation }) => operation ?? TEXTS.none },
  { title: TEXTS.mode, cell: ({ mode }) => mode, wideOnly: true },
  { title: TEXTS.messages, cell: ({ outcomes }) => countText(sumOutcomes(outcomes)), align: 'end' },
  { title: TEXTS.outcomes, cell: (row) => <OutcomeBadges {...row} />, stays: true },
  { title: TEXTS.p50, cell: ({ p50_ms }) => durationOrDash(p50_ms), align: 'end' },
  { title: TEXTS.p99, cell: ({ p99_ms }) => durationOrDash(p99_ms), align: 'end' },
]

export function Traffic({ overview: { hours, traffic } }: { readonly overview: Overview }) {
  const rows = traffic.toSorted((a, b) => sumOutcomes(b.outcomes) - sumOutcomes(a.outcomes))
  return (
    <Section title={OVERVIEW.traffic}>
      <Panel>
        <HourChart hours={hours} />
        <div className={styles.divided}>
          <DataTable
            caption={TEXTS.caption}
            columns={OPERATION_COLUMNS}
            query={rowsAsQuery(rows)}
            keyOf={({ operation, mode }) => `${operation} ${mode}`}
            empty={
              <Empty next={NEXT_STEPS.search} title={TEXTS.empty}>
                {TEXTS.emptyNote}
              </Empty>
            }
          />
        </div>
      </Panel>
    </Section>
  )
}

const OutcomeBadges = ({ mode, outcomes }: Operation) => (
  <span className={styles.outcomes}>
    {Object.entries(outcomes).map(([outcome, messages]) => (
      <Badge key={outcome} state={outcome} label={`${TEXTS.made[mode]?.[outcome] ?? outcome} ${countText(messages)}`} />
    ))}
  </span>
)
