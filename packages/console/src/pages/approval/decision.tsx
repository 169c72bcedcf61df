/** Buttons that approve or decline a proposal, after a dialog in which the operator confirms. */

import type { Proposal } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { APPROVAL } from '../../texts/approvals.ts'

interface DecisionProps {
  readonly proposal: Proposal
  readonly onResult: (result: unknown) => void
}

/** The cached answers that an approved act may have changed, each by the first word of its query key. */
const QUERY_KEYS_TO_RELOAD = [
  ...(['proposals', 'participants', 'registries', 'grants', 'deliveries', 'subscriptions', 'operators'] as const),
  'auditLog',
] as const

export function DecisionButtons({ proposal, onResult }: DecisionProps) {
  const { id, act: name, proposed_by } = proposal
  const path = { params: { path: { id } }, body: {} }
  return (
    <>
      <FormDialog
        danger
        label={APPROVAL.decline}
        title={APPROVAL.decline}
        call={() => answerTo(api.POST('/admin/v1/proposals/{id}/decline', path))}
        changes={['proposals']}
        done={() => APPROVAL.declined}
      >
        <p>{APPROVAL.declineLead(name)}</p>
      </FormDialog>
      <FormDialog
        main
        label={APPROVAL.approve}
        title={APPROVAL.approve}
        call={() => answerTo(api.POST('/admin/v1/proposals/{id}/approve', path))}
        changes={QUERY_KEYS_TO_RELOAD}
        done={() => APPROVAL.approved}
        onDone={({ result }) => onResult(result)}
      >
        <p>{APPROVAL.approveLead(name, proposed_by)}</p>
      </FormDialog>
    </>
  )
}
