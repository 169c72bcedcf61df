/** Lists the client secrets of a participant without their values. A new secret is shown once. */

import { useState } from 'react'
import type { Participant } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { SecretShownOnce } from '../../parts/secret.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../session/session.ts'
import { PARTICIPANT, PARTICIPANTS } from '../../texts/participants.ts'

const { secrets: TEXTS } = PARTICIPANT
const { columns: TITLES } = TEXTS

const COLUMNS: readonly Column<Participant['secrets'][number]>[] = [
  { title: TITLES.made, cell: ({ created_at }) => <Time at={created_at} relative /> },
  { title: TITLES.state, cell: ({ live }) => <Badge state={live ? TEXTS.live : TEXTS.retired} tone={live ? 'good' : 'quiet'} /> },
  { title: TITLES.retired, cell: ({ retired_at }) => retired_at && <Time at={retired_at} /> },
]

export function Secrets({ participant: { sender_id, secrets } }: { readonly participant: Participant }) {
  const may = useMay()
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <Section
      title={TEXTS.title}
      lead={TEXTS.lead}
      actions={
        may('own') && (
          <FormDialog
            label={TEXTS.rotate}
            title={TEXTS.rotateTitle}
            call={() =>
              answerTo(api.POST('/admin/v1/participants/{sender_id}/secrets', { params: { path: { sender_id } }, body: {} }))
            }
            changes={['participants']}
            onDone={({ client_secret }) => setSecret(client_secret)}
          >
            <p>{TEXTS.rotateLead}</p>
          </FormDialog>
        )
      }
    >
      <PanelTable
        caption={TEXTS.caption}
        columns={COLUMNS}
        query={rowsAsQuery(secrets)}
        keyOf={({ created_at }) => created_at}
        empty={<Empty title={TEXTS.none} />}
      />
      <SecretShownOnce
        title={PARTICIPANTS.secretTitle}
        what={PARTICIPANTS.secret}
        value={secret}
        onClose={() => setSecret(null)}
      />
    </Section>
  )
}
