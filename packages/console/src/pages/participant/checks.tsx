/** Shows the reports of a sandbox participant's checks, and begins a new check. */

import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Participant } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Panel, Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, DataTable, rowsAsQuery } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import type { Tone } from '../../parts/tones.ts'
import { useAct } from '../../parts/use-act.tsx'
import { useMay } from '../../session/session.ts'
import { PARTICIPANT } from '../../texts/participants.ts'
import styles from './participant.module.css'

type Report = Participant['checks'][number]
type CheckStep = Report['steps'][number]
type CheckInput = Pick<Report, 'namespace' | 'since'>

const { checks: TEXTS } = PARTICIPANT
const { columns: TITLES } = TEXTS
const TONES_BY_STATE: Readonly<Record<CheckStep['state'], Tone>> = { passed: 'good', missing: 'bad', skipped: 'quiet' }
const DAY_MS = 86_400_000
const QUERY_KEYS_TO_RELOAD = ['participants'] as const

const STEP_COLUMNS: readonly Column<CheckStep>[] = [
  { title: TITLES.step, cell: ({ name }) => name },
  { title: TITLES.state, cell: ({ state }) => <Badge state={state} tone={TONES_BY_STATE[state]} /> },
  { title: TITLES.text, cell: ({ text }) => text },
]

const callCheck = (sender_id: string, body: CheckInput) =>
  answerTo(api.POST('/admin/v1/participants/{sender_id}/check', { params: { path: { sender_id } }, body }))

export function Checks({ participant: { sender_id, environment, checks } }: { readonly participant: Participant }) {
  const may = useMay()
  const isChecked = environment === 'sandbox'
  // A live participant is not checked: only the reports from its time in the sandbox are shown.
  if (!isChecked && checks.length === 0) return null
  const mayCheck = isChecked && may('operate')
  return (
    <Section title={TEXTS.title} lead={TEXTS.lead} actions={mayCheck && <CheckButton sender_id={sender_id} />}>
      {checks.length === 0 && (
        <Panel>
          <Empty title={TEXTS.none}>{TEXTS.noneNote}</Empty>
        </Panel>
      )}
      {checks.map((report, at) => (
        <Panel key={`${report.namespace} ${report.checked_at}`}>
          <div className={styles.report}>
            <Badge state={report.passed ? TEXTS.passed : TEXTS.failed} tone={report.passed ? 'good' : 'bad'} />
            <span>{TEXTS.caption(report.namespace)}</span>
            <Time at={report.checked_at} relative />
            <span>{TEXTS.of(report.version)}</span>
            {mayCheck && at === 0 && !report.passed && <RepeatCheck sender_id={sender_id} report={report} />}
          </div>
          <DataTable
            caption={TEXTS.caption(report.namespace)}
            columns={STEP_COLUMNS}
            query={rowsAsQuery(report.steps)}
            keyOf={({ name }) => name}
          />
        </Panel>
      ))}
    </Section>
  )
}

function CheckButton({ sender_id }: { readonly sender_id: string }) {
  const registries = useQuery({ queryKey: ['registries', 'all'], queryFn: () => answerTo(api.GET('/admin/v1/registries')) })
  const options = (registries.data ?? []).filter(({ environment }) => environment === 'sandbox').map(({ namespace }) => namespace)
  return (
    <FormDialog
      label={TEXTS.label}
      title={TEXTS.dialog(sender_id)}
      act={TEXTS.act}
      fields={[
        { name: 'namespace', label: TEXTS.namespace, as: 'choice', options, required: true },
        { name: 'since', label: TEXTS.since, note: TEXTS.sinceNote, as: 'time' },
      ]}
      call={(given) =>
        callCheck(sender_id, {
          namespace: given.text('namespace') ?? '',
          since: given.time('since') ?? new Date(Date.now() - DAY_MS).toISOString(),
        })
      }
      changes={QUERY_KEYS_TO_RELOAD}
      done={({ passed }) => (passed ? TEXTS.donePassed : TEXTS.doneMissing)}
    >
      <p>{TEXTS.dialogLead}</p>
    </FormDialog>
  )
}

/** A button that repeats a check with the same registry, from the same time on. */
function RepeatCheck({ sender_id, report }: { readonly sender_id: string; readonly report: Report }) {
  const { namespace, since } = report
  const act = useAct({
    call: () => callCheck(sender_id, { namespace, since }),
    changes: QUERY_KEYS_TO_RELOAD,
    done: ({ passed }) => (passed ? TEXTS.donePassed : TEXTS.doneMissing),
  })
  return (
    <Button variant="subtle" size="compact-sm" loading={act.isPending} onClick={() => act.mutate(undefined)}>
      {TEXTS.again}
    </Button>
  )
}
