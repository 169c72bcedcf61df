/** The reports of the checks of a participant. */
import { Badge } from '../../parts/badge.tsx'
import { Panel, Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, DataTable, fixed } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import type { Tone } from '../../parts/tones.ts'
import { PARTICIPANT } from '../../texts/participants.ts'
import type { Participant } from './page.tsx'
import styles from './participant.module.css'

type Step = Participant['checks'][number]['steps'][number]

const { checks: TEXTS } = PARTICIPANT
const { columns: TITLES } = TEXTS
const TONES: Readonly<Record<Step['state'], Tone>> = { passed: 'good', missing: 'bad', skipped: 'quiet' }

const COLUMNS: readonly Column<Step>[] = [
  { title: TITLES.step, cell: ({ name }) => name },
  { title: TITLES.state, cell: ({ state }) => <Badge state={state} tone={TONES[state]} /> },
  { title: TITLES.text, cell: ({ text }) => text },
]

export const Checks = ({ participant: { checks } }: { readonly participant: Participant }) => (
  <Section title={TEXTS.title} lead={TEXTS.lead}>
    {checks.length === 0 && (
      <Panel>
        <Empty title={TEXTS.none}>{TEXTS.noneNote}</Empty>
      </Panel>
    )}
    {checks.map(({ namespace, checked_at, version, passed, steps }) => (
      <Panel key={`${namespace} ${checked_at}`}>
        <div className={styles.report}>
          <Badge state={passed ? TEXTS.passed : TEXTS.failed} tone={passed ? 'good' : 'bad'} />
          <span>{TEXTS.caption(namespace)}</span>
          <Time at={checked_at} relative />
          <span>{TEXTS.of(version)}</span>
        </div>
        <DataTable
          caption={TEXTS.caption(namespace)}
          columns={COLUMNS}
          query={fixed(steps)}
          keyOf={({ name }) => name}
        />
      </Panel>
    ))}
  </Section>
)
