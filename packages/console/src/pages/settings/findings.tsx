/** A list of doctor's findings, the worst first, each with advice, and with a command if one solves it. */
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { CopyableId } from '../../parts/identifier.tsx'
import { Section } from '../../parts/page.tsx'
import { type Column, PanelTable } from '../../parts/table.tsx'
import { numberText } from '../../parts/times.ts'
import type { Tone } from '../../parts/tones.ts'
import { LOCALE } from '../../texts/common.ts'
import { FINDINGS, SETTINGS } from '../../texts/settings.ts'
import styles from './settings.module.css'

type Finding = Answer<'/admin/v1/findings'>[number]

const { columns: TITLES } = FINDINGS
const STATES_WORST_FIRST: readonly Finding['state'][] = ['broken', 'weak', 'ok']
const FINDING_TONES: Readonly<Record<Finding['state'], Tone>> = { broken: 'bad', weak: 'warn', ok: 'good' }

const COLUMNS: readonly Column<Finding>[] = [
  { title: TITLES.state, cell: ({ state }) => <Badge state={state} label={FINDINGS.state[state]} tone={FINDING_TONES[state]} /> },
  { title: TITLES.check, cell: ({ check }) => <span className={styles.check}>{check.replaceAll('_', ' ')}</span> },
  {
    title: TITLES.advice,
    cell: ({ advice, command }) => (
      <>
        {advice}
        {command !== null && (
          <span className={styles.command}>
            <CopyableId value={command} what={FINDINGS.command} />
          </span>
        )}
      </>
    ),
  },
]

export function Findings() {
  const query = useQuery({ queryKey: ['findings'], queryFn: () => answerTo(api.GET('/admin/v1/findings')) })
  const sorted = query.data?.toSorted(
    (one, other) => STATES_WORST_FIRST.indexOf(one.state) - STATES_WORST_FIRST.indexOf(other.state),
  )
  const countText = (state: Finding['state']) =>
    numberText(sorted?.filter((finding) => finding.state === state).length ?? 0, LOCALE)
  return (
    <Section
      title={SETTINGS.view.findings}
      lead={FINDINGS.lead}
      actions={
        <Button variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
          {FINDINGS.again}
        </Button>
      }
    >
      {sorted !== undefined && (
        <p className={styles.shown} role="status">
          {FINDINGS.counts(countText('broken'), countText('weak'), countText('ok'))}
        </p>
      )}
      <PanelTable caption={FINDINGS.caption} columns={COLUMNS} query={{ ...query, data: sorted }} keyOf={({ check }) => check} />
    </Section>
  )
}
