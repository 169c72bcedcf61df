/** A form for the credentials that we send to a participant. They are written, and never shown. */
import type { Participant } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { PARTICIPANT } from '../../texts/participants.ts'

type Auth = Participant['callback']['auth']

const { callback: TEXTS } = PARTICIPANT
const { fields: FIELDS } = TEXTS
const AUTH_WAYS: readonly Auth[] = ['none', 'bearer', 'oauth2', 'mtls']

/** The fields for each way of authentication. */
const CREDENTIAL_FIELDS = [
  { name: 'token', when: ['bearer'], as: 'secret', required: true },
  { name: 'token_url', when: ['oauth2'], as: 'text', required: true },
  { name: 'client_id', when: ['oauth2'], as: 'text', required: true },
  { name: 'client_secret', when: ['oauth2'], as: 'secret', required: true },
  { name: 'scope', when: ['oauth2'], as: 'text', required: false },
  { name: 'cert', when: ['mtls'], as: 'area', required: true },
  { name: 'key', when: ['mtls'], as: 'area', required: true },
] as const

interface CredentialsProps {
  readonly sender_id: string
  readonly auth: Auth
}

export const Credentials = ({ sender_id, auth }: CredentialsProps) => (
  <FormDialog
    label={TEXTS.authenticate}
    title={TEXTS.names.auth}
    act={TEXTS.save}
    fields={[
      { name: 'auth', label: FIELDS.auth, as: 'choice', options: AUTH_WAYS, required: true, value: auth },
      ...CREDENTIAL_FIELDS.map(({ when, ...field }) => ({
        ...field,
        label: FIELDS[field.name],
        when: [{ field: 'auth', is: when }],
        ...(field.as === 'area' && { note: FIELDS.pemNote }),
      })),
      {
        name: 'origin',
        label: FIELDS.origin,
        note: FIELDS.originNote,
        when: [{ field: 'auth', is: ['bearer', 'oauth2', 'mtls'] }],
      },
    ]}
    call={(given) =>
      answerTo(
        api.POST('/admin/v1/participants/{sender_id}/callback', {
          params: { path: { sender_id } },
          body: {
            auth: given.choice('auth', AUTH_WAYS) ?? auth,
            origin: given.text('origin'),
            ...Object.fromEntries(CREDENTIAL_FIELDS.map(({ name }) => [name, given.text(name)])),
          },
        }),
      )
    }
    changes={['participants']}
    done={() => TEXTS.authenticated}
  >
    <p>{TEXTS.authenticateLead}</p>
  </FormDialog>
)
