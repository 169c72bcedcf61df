/** Buttons that approve or decline a proposal, after a dialog in which the operator confirms. */

import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Proposal } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { useAct } from '../../parts/use-act.tsx'
import { APPROVAL } from '../../texts/approvals.ts'

interface DecisionProps {
  readonly proposal: Proposal
  readonly onResult: (result: unknown) => void
}

/** The cached answers that an approved act may have changed, each by the first word of its query key. */
const CHANGED_QUERY_KEYS = [
  ...(['proposals', 'participants', 'registries', 'grants', 'deliveries', 'subscriptions', 'operators'] as const),
  'auditLog',
] as const

export function DecisionButtons({ proposal, onResult }: DecisionProps) {
  const { id, act: name, proposed_by } = proposal
  const [approving, approval] = useDisclosure(false)
  const [declining, refusal] = useDisclosure(false)
  const path = { params: { path: { id } }, body: {} }
  const approve = useAct({
    call: () => answerTo(api.POST('/admin/v1/proposals/{id}/approve', path)),
    changes: CHANGED_QUERY_KEYS,
    done: () => APPROVAL.approved,
    onDone: ({ result }) => onResult(result),
    onOver: approval.close,
  })
  const decline = useAct({
    call: () => answerTo(api.POST('/admin/v1/proposals/{id}/decline', path)),
    changes: ['proposals'],
    done: () => APPROVAL.declined,
    onOver: refusal.close,
  })
  return (
    <>
      <Button variant="default" onClick={refusal.open}>
        {APPROVAL.decline}
      </Button>
      <Button onClick={approval.open}>{APPROVAL.approve}</Button>
      <ConfirmDialog
        opened={approving}
        title={APPROVAL.approve}
        act={APPROVAL.approve}
        busy={approve.isPending}
        onConfirm={() => approve.mutate(undefined)}
        onClose={approval.close}
      >
        <p>{APPROVAL.approveLead(name, proposed_by)}</p>
      </ConfirmDialog>
      <ConfirmDialog
        opened={declining}
        title={APPROVAL.decline}
        act={APPROVAL.decline}
        busy={decline.isPending}
        danger
        onConfirm={() => decline.mutate(undefined)}
        onClose={refusal.close}
      >
        <p>{APPROVAL.declineLead(name)}</p>
      </ConfirmDialog>
    </>
  )
}
