/** A form for the limits of a participant: its requests, and its subscriptions. */
import type { Participant } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { PARTICIPANT, PARTICIPANTS } from '../../texts/participants.ts'

const { limits: TEXTS, facts: NAMES } = PARTICIPANT
const { fields: FIELDS } = PARTICIPANTS

export function ChangeLimits({
  participant: { sender_id, rate_limit, concurrency_limit, max_page_size, max_subscriptions },
}: {
  readonly participant: Participant
}) {
  const path = { params: { path: { sender_id } } }
  return (
    <FormDialog
      label={TEXTS.label}
      title={TEXTS.title(sender_id)}
      act={TEXTS.act}
      fields={[
        { name: 'rate_limit', label: NAMES.rate, note: FIELDS.limitNote, value: rate_limit },
        { name: 'concurrency_limit', label: NAMES.concurrency, note: FIELDS.limitNote, value: concurrency_limit },
        { name: 'max_page_size', label: NAMES.page, note: FIELDS.pageNote, value: max_page_size },
        { name: 'max_subscriptions', label: NAMES.most, note: FIELDS.limitNote, value: max_subscriptions },
      ]}
      call={async (given) => {
        await answerTo(
          api.POST('/admin/v1/participants/{sender_id}/limits', {
            ...path,
            body: {
              rate_limit: given.limit('rate_limit'),
              concurrency_limit: given.limit('concurrency_limit'),
              max_page_size: given.number('max_page_size') ?? null,
            },
          }),
        )
        const most = given.limit('max_subscriptions')
        if (most === max_subscriptions) return
        await answerTo(
          api.POST('/admin/v1/participants/{sender_id}/subscriptions', { ...path, body: { max_subscriptions: most } }),
        )
      }}
      changes={['participants']}
      done={() => TEXTS.done}
    >
      <p>{TEXTS.lead}</p>
    </FormDialog>
  )
}
