/** Shows how much of its quotas a participant has used today. */
import type { Participant } from '../../api/answers.ts'
import { Section } from '../../parts/page.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import { numberText } from '../../parts/times.ts'
import { LOCALE } from '../../texts/common.ts'
import { PARTICIPANT } from '../../texts/participants.ts'
import styles from './participant.module.css'

const { quotas: TEXTS } = PARTICIPANT
const { columns: TITLES, counted: NAMES } = TEXTS

interface Quota {
  readonly what: string
  readonly registry: string
  readonly used: number
  readonly most: number
}

const percentText = ({ used, most }: Quota): string =>
  new Intl.NumberFormat(LOCALE, { style: 'percent' }).format(most === 0 ? 0 : used / most)

const COLUMNS: readonly Column<Quota>[] = [
  { title: TITLES.what, cell: ({ what }) => what },
  { title: TITLES.registry, cell: ({ registry }) => registry },
  { title: TITLES.used, cell: ({ used }) => numberText(used, LOCALE), align: 'end' },
  { title: TITLES.most, cell: ({ most }) => numberText(most, LOCALE), align: 'end' },
  {
    title: TITLES.part,
    cell: (row) => (
      <span className={styles.part}>
        <meter className={styles.meter} value={row.used} max={row.most} aria-label={TEXTS.part(percentText(row))} />
        {percentText(row)}
      </span>
    ),
  },
]

type QuotaUsageOfDay = Pick<Participant, 'quotas' | 'accepted_today' | 'callbacks_today'>

export const Quotas = ({ participant }: { readonly participant: QuotaUsageOfDay }) => (
  <Section title={TEXTS.title} lead={TEXTS.lead}>
    <PanelTable
      caption={TEXTS.caption}
      columns={COLUMNS}
      query={rowsAsQuery(rowsOf(participant))}
      keyOf={({ what, registry }) => `${what} ${registry}`}
    />
  </Section>
)

function rowsOf({ quotas, accepted_today: accepted, callbacks_today: called }: QuotaUsageOfDay): Quota[] {
  const registry = TEXTS.everywhere
  return [
    ...quotas.map(({ namespace, counted, used, most }) => ({ what: NAMES[counted], registry: namespace, used, most })),
    { what: NAMES.accepted_today, registry, used: accepted.messages, most: accepted.most_messages },
    { what: NAMES.accepted_bytes, registry, used: accepted.bytes, most: accepted.most_bytes },
    { what: NAMES.callbacks_today, registry, used: called.messages, most: called.most_messages },
    { what: NAMES.callbacks_bytes, registry, used: called.bytes, most: called.most_bytes },
  ]
}
