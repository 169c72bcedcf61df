/** A list of items that were answered as emergencies (docs/grants.md), with the notes of those who reviewed them. */
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, PanelTable } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import { useAct } from '../../parts/use-act.tsx'
import { EMERGENCIES } from '../../texts/audit-log.ts'
import { LOCALE } from '../../texts/common.ts'
import styles from './audit-log.module.css'

type EmergencyUse = Answer<'/admin/v1/emergencies'>[number]

const { columns: TITLES } = EMERGENCIES
const MOST_ROWS = 1_000

const COLUMNS: readonly Column<EmergencyUse>[] = [
  { title: TITLES.at, cell: ({ at }) => <Time at={at} seconds /> },
  { title: TITLES.participant, cell: ({ participant }) => participant },
  { title: TITLES.registry, cell: ({ registry }) => registry, wideOnly: true },
  { title: TITLES.reason, cell: ({ reason }) => reason },
  { title: TITLES.requested_by, cell: ({ requested_by }) => requested_by, wideOnly: true },
  { title: TITLES.records, cell: ({ records }) => numberText(records, LOCALE), align: 'end' },
]

const REVIEWS_COLUMN: Column<EmergencyUse> = {
  title: TITLES.review,
  cell: ({ reviews }) =>
    reviews.map(({ at, reviewed_by, note }) => (
      <span key={at} className={styles.review}>
        <bdi>{note}</bdi> ({reviewed_by}, <Time at={at} />)
      </span>
    )),
}

export function Emergencies() {
  const [reviewed, setReviewed] = useState(false)
  const [open, setOpen] = useState<string | null>(null)
  const [note, setNote] = useState('')
  const query = useQuery({
    queryKey: ['emergencies', reviewed],
    queryFn: () => answerTo(api.GET('/admin/v1/emergencies', { params: { query: { reviewed, limit: MOST_ROWS } } })),
  })
  const close = () => {
    setOpen(null)
    setNote('')
  }
  const review = useAct({
    call: (id: string) =>
      answerTo(api.POST('/admin/v1/emergencies/{id}/reviews', { params: { path: { id } }, body: { note: note.trim() } })),
    changes: ['emergencies', 'auditLog', 'overview'],
    done: () => EMERGENCIES.done,
    onOver: close,
  })
  const act: Column<EmergencyUse> = {
    title: TITLES.review,
    align: 'end',
    cell: ({ id }) => (
      <Button variant="default" size="compact-sm" onClick={() => setOpen(id)}>
        {EMERGENCIES.act}
      </Button>
    ),
  }
  return (
    <Section
      title={EMERGENCIES.title}
      lead={EMERGENCIES.lead}
      actions={
        <NativeSelect
          aria-label={EMERGENCIES.which}
          data={[
            { value: 'open', label: EMERGENCIES.open },
            { value: 'reviewed', label: EMERGENCIES.reviewed },
          ]}
          value={reviewed ? 'reviewed' : 'open'}
          onChange={(event) => setReviewed(event.currentTarget.value === 'reviewed')}
        />
      }
    >
      {query.data?.length === MOST_ROWS && <p className={styles.note}>{EMERGENCIES.cut(numberText(MOST_ROWS, LOCALE))}</p>}
      <PanelTable
        caption={EMERGENCIES.caption}
        columns={[...COLUMNS, reviewed ? REVIEWS_COLUMN : act]}
        query={query}
        keyOf={({ id }) => id}
        empty={<Empty title={reviewed ? EMERGENCIES.emptyReviewed : EMERGENCIES.empty} />}
      />
      <ConfirmDialog
        opened={open !== null}
        title={EMERGENCIES.dialog}
        act={EMERGENCIES.confirm}
        busy={review.isPending}
        disabled={note.trim() === ''}
        onConfirm={() => open !== null && review.mutate(open)}
        onClose={close}
      >
        <TextInput
          label={EMERGENCIES.note}
          description={EMERGENCIES.advice}
          data-autofocus
          maxLength={2_000}
          autoComplete="off"
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
      </ConfirmDialog>
    </Section>
  )
}
