/** A form for the limits of a participant: its requests, and its subscriptions. */
import { useState } from 'react'
import type { Participant } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { ApiFault } from '../../api/fault.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { changedFormMembers } from '../../parts/form-values.ts'
import { PARTICIPANT, PARTICIPANTS } from '../../texts/participants.ts'

const { limits: TEXTS, facts: NAMES } = PARTICIPANT
const { fields: FIELDS } = PARTICIPANTS

export function ChangeLimits({ participant }: { readonly participant: Participant }) {
  const [shown, setShown] = useState(participant)
  const { sender_id } = participant
  const path = { params: { path: { sender_id } } }
  return (
    <FormDialog
      label={TEXTS.label}
      title={TEXTS.title(sender_id)}
      act={TEXTS.act}
      onOpen={() => setShown(participant)}
      fields={[
        { name: 'rate_limit', label: NAMES.rate, note: FIELDS.limitNote, value: shown.rate_limit },
        { name: 'concurrency_limit', label: NAMES.concurrency, note: FIELDS.limitNote, value: shown.concurrency_limit },
        { name: 'max_page_size', label: NAMES.page, note: FIELDS.pageNote, value: shown.max_page_size },
        { name: 'max_subscriptions', label: NAMES.most, note: FIELDS.limitNote, value: shown.max_subscriptions },
      ]}
      call={async (given) => {
        const body = changedFormMembers(
          {
            rate_limit: given.limit('rate_limit'),
            concurrency_limit: given.limit('concurrency_limit'),
            max_page_size: given.number('max_page_size') ?? null,
          },
          shown,
        )
        const most = given.limit('max_subscriptions')
        const isChanged = Object.keys(body).length > 0
        if (isChanged) await answerTo(api.POST('/admin/v1/participants/{sender_id}/limits', { ...path, body }))
        if (most === shown.max_subscriptions) return
        await answerTo(
          api.POST('/admin/v1/participants/{sender_id}/subscriptions', { ...path, body: { max_subscriptions: most } }),
        ).catch((error: unknown) => {
          if (!isChanged || !(error instanceof ApiFault)) throw error
          throw new ApiFault(error.status, [{ code: 'partly', message: TEXTS.partly }, ...error.errors])
        })
      }}
      changes={['participants']}
      done={() => TEXTS.done}
    >
      <p>{TEXTS.lead}</p>
    </FormDialog>
  )
}
