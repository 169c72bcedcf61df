/** A button that makes a sign-in link to the partner page for a participant. The link is shown once. */
import { useState } from 'react'
import { answerTo, api } from '../../api/client.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { SecretShownOnce } from '../../parts/secret.tsx'
import { PARTICIPANT } from '../../texts/participants.ts'

const { link: TEXTS } = PARTICIPANT

export function PartnerLinkButton({ sender_id }: { readonly sender_id: string }) {
  const [link, setLink] = useState<string | null>(null)
  return (
    <>
      <FormDialog
        label={TEXTS.label}
        title={TEXTS.title(sender_id)}
        act={TEXTS.act}
        call={() => answerTo(api.POST('/admin/v1/participants/{sender_id}/link', { params: { path: { sender_id } }, body: {} }))}
        changes={[]}
        onDone={({ url }) => setLink(url)}
      >
        <p>{TEXTS.lead}</p>
      </FormDialog>
      <SecretShownOnce title={TEXTS.once} what={TEXTS.once} value={link} onClose={() => setLink(null)} />
    </>
  )
}
