/** The page with the list of participants. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { PageFrame } from '../../parts/page.tsx'
import { SecretShownOnce } from '../../parts/secret.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, PanelTable } from '../../parts/table.tsx'
import { useMay } from '../../session/session.ts'
import { PAGES } from '../../texts/pages.ts'
import { PARTICIPANTS } from '../../texts/participants.ts'

type Participant = Answer<'/admin/v1/participants'>[number]

const { columns: TITLES, fields: FIELDS } = PARTICIPANTS
const ENVIRONMENTS: readonly Participant['environment'][] = ['live', 'sandbox']

const COLUMNS: readonly Column<Participant>[] = [
  { title: TITLES.sender, cell: ({ sender_id }) => sender_id },
  { title: TITLES.name, cell: ({ name }) => name },
  { title: TITLES.status, cell: ({ status }) => <Badge state={status} />, stays: true },
  { title: TITLES.environment, cell: ({ environment }) => <Badge state={environment} /> },
  { title: TITLES.signature, cell: ({ signature_policy }) => signature_policy, wideOnly: true },
  { title: TITLES.client, cell: ({ client_id }) => <code>{client_id}</code>, wideOnly: true },
]

export function Page() {
  const may = useMay()
  const query = useQuery({ queryKey: ['participants'], queryFn: () => answerTo(api.GET('/admin/v1/participants')) })
  return (
    <PageFrame title={PAGES.participants} lead={PARTICIPANTS.lead} actions={may('own') && <AddParticipantButton />}>
      <PanelTable
        caption={PARTICIPANTS.caption}
        columns={COLUMNS}
        query={query}
        keyOf={({ sender_id }) => sender_id}
        linkOf={({ sender_id }) => `/participants/${encodeURIComponent(sender_id)}`}
        empty={<Empty title={PARTICIPANTS.empty}>{PARTICIPANTS.emptyNote}</Empty>}
      />
    </PageFrame>
  )
}

function AddParticipantButton() {
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <>
      <FormDialog
        label={PARTICIPANTS.add}
        title={PARTICIPANTS.add}
        fields={[
          { name: 'sender_id', label: FIELDS.sender_id, note: FIELDS.senderNote, required: true },
          { name: 'name', label: FIELDS.name, note: FIELDS.nameNote, required: true },
          {
            name: 'environment',
            label: FIELDS.environment,
            note: FIELDS.environmentNote,
            as: 'choice',
            options: ENVIRONMENTS,
            required: true,
          },
          { name: 'rate_limit', label: FIELDS.rate_limit, note: FIELDS.limitNote },
          { name: 'concurrency_limit', label: FIELDS.concurrency_limit, note: FIELDS.limitNote },
          { name: 'max_page_size', label: FIELDS.max_page_size, note: FIELDS.pageNote, as: 'number' },
        ]}
        call={(given) =>
          answerTo(
            api.POST('/admin/v1/participants', {
              body: {
                sender_id: given.text('sender_id') ?? '',
                name: given.text('name') ?? '',
                environment: given.choice('environment', ENVIRONMENTS),
                rate_limit: given.limit('rate_limit'),
                concurrency_limit: given.limit('concurrency_limit'),
                max_page_size: given.number('max_page_size') ?? null,
              },
            }),
          )
        }
        changes={['participants']}
        done={({ sender_id }) => PARTICIPANTS.added(sender_id)}
        onDone={({ client_secret }) => setSecret(client_secret)}
      >
        <p>{PARTICIPANTS.addLead}</p>
      </FormDialog>
      <SecretShownOnce
        title={PARTICIPANTS.secretTitle}
        what={PARTICIPANTS.secret}
        value={secret}
        onClose={() => setSecret(null)}
      />
    </>
  )
}
