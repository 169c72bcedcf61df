/** Buttons for acts on a participant as a whole. */

import { useState } from 'react'
import type { Participant } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { LossOfAccess } from '../../parts/at-stake.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { RemovalDialog } from '../../parts/removal.tsx'
import { SecretShownOnce } from '../../parts/secret.tsx'
import { useMay } from '../../session/session.ts'
import { PARTICIPANT, PARTICIPANTS } from '../../texts/participants.ts'
import { ChangeLimits } from './limits.tsx'
import { PartnerLinkButton } from './partner-link.tsx'

const { disable: DISABLE, enable: ENABLE, promote: PROMOTE, keys: KEYS, policy: POLICY } = PARTICIPANT
const QUERY_KEYS_TO_RELOAD = ['participants', 'overview', 'grants'] as const

export function Acts({ participant }: { readonly participant: Participant }) {
  const { sender_id, status, environment } = participant
  const may = useMay()
  const [secret, setSecret] = useState<string | null>(null)
  const path = { params: { path: { sender_id } } }
  return (
    <>
      {status === 'active' && may('operate') && <PartnerLinkButton sender_id={sender_id} />}
      {status === 'active' && may('operate') && (
        <FormDialog
          danger
          label={DISABLE.label}
          title={DISABLE.title(sender_id)}
          call={() => answerTo(api.POST('/admin/v1/participants/{sender_id}/disable', { ...path, body: {} }))}
          changes={QUERY_KEYS_TO_RELOAD}
          done={() => DISABLE.done(sender_id)}
        >
          <p>{DISABLE.lead}</p>
          <LossOfAccess participant={sender_id} />
        </FormDialog>
      )}
      {status === 'disabled' && may('own') && (
        <FormDialog
          label={ENABLE.label}
          title={ENABLE.title(sender_id)}
          call={() => answerTo(api.POST('/admin/v1/participants/{sender_id}/enable', { ...path, body: {} }))}
          changes={QUERY_KEYS_TO_RELOAD}
          done={() => ENABLE.done(sender_id)}
        >
          <p>{ENABLE.lead}</p>
        </FormDialog>
      )}
      {may('operate') && <ChangeLimits participant={participant} />}
      {environment === 'sandbox' && may('own') && (
        <FormDialog
          label={PROMOTE.label}
          title={PROMOTE.title(sender_id)}
          fields={[
            { name: 'keys', label: PROMOTE.keys, note: KEYS.fields.keysNote, as: 'area' },
            { name: 'jwks_uri', label: PROMOTE.jwks_uri, note: POLICY.uriNote },
          ]}
          call={(given) =>
            answerTo(
              api.POST('/admin/v1/participants/{sender_id}/promote', {
                ...path,
                body: { keys: given.text('keys'), jwks_uri: given.text('jwks_uri') },
              }),
            )
          }
          changes={QUERY_KEYS_TO_RELOAD}
          done={() => PROMOTE.done(sender_id)}
          onDone={({ client_secret }) => setSecret(client_secret)}
        >
          <p>{PROMOTE.lead}</p>
        </FormDialog>
      )}
      {may('own') && (
        <RemovalDialog
          name={sender_id}
          list="participants"
          call={(body) => answerTo(api.POST('/admin/v1/participants/{sender_id}/remove', { ...path, body }))}
        />
      )}
      <SecretShownOnce
        title={PARTICIPANTS.secretTitle}
        what={PARTICIPANTS.secret}
        value={secret}
        onClose={() => setSecret(null)}
      />
    </>
  )
}
