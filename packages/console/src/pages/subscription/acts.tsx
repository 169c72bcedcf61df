/** Buttons for acts on a subscription. */

import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Subscription } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { numberText } from '../../parts/times.ts'
import { useAct } from '../../parts/use-act.tsx'
import { LOCALE } from '../../texts/common.ts'
import { SUBSCRIPTION } from '../../texts/subscriptions.ts'

const { test: TEST, resume: RESUME, cancel: CANCEL } = SUBSCRIPTION
const CHANGED_QUERY_KEYS = ['subscriptions']

export function SubscriptionActs({ subscription }: { readonly subscription: Subscription }) {
  const { code, state, waiting } = subscription
  const subscriptionPath = { params: { path: { code } }, body: {} }
  const [testing, testDialog] = useDisclosure(false)
  const [ending, endDialog] = useDisclosure(false)
  const test = useAct({
    call: () => answerTo(api.POST('/admin/v1/subscriptions/{code}/test', subscriptionPath)),
    changes: CHANGED_QUERY_KEYS,
    done: () => TEST.done,
    onOver: testDialog.close,
  })
  const resume = useAct({
    call: () => answerTo(api.POST('/admin/v1/subscriptions/{code}/resume', subscriptionPath)),
    changes: CHANGED_QUERY_KEYS,
    done: () => RESUME.done,
  })
  const cancel = useAct({
    call: () => answerTo(api.POST('/admin/v1/subscriptions/{code}/cancel', subscriptionPath)),
    changes: CHANGED_QUERY_KEYS,
    done: () => CANCEL.done,
    onOver: endDialog.close,
  })
  return (
    <>
      {state === 'suspended' && (
        <Button onClick={() => resume.mutate(undefined)} loading={resume.isPending}>
          {RESUME.act}
        </Button>
      )}
      <Button variant="default" onClick={testDialog.open}>
        {TEST.act}
      </Button>
      <Button variant="default" onClick={endDialog.open}>
        {CANCEL.act}
      </Button>
      <ConfirmDialog
        opened={testing}
        title={TEST.act}
        act={TEST.confirm}
        busy={test.isPending}
        onConfirm={() => test.mutate(undefined)}
        onClose={testDialog.close}
      >
        <p>{TEST.lead}</p>
      </ConfirmDialog>
      <ConfirmDialog
        opened={ending}
        title={CANCEL.act}
        act={CANCEL.act}
        danger
        busy={cancel.isPending}
        onConfirm={() => cancel.mutate(undefined)}
        onClose={endDialog.close}
      >
        <p>{CANCEL.lead}</p>
        <p>{CANCEL.waiting(numberText(waiting, LOCALE))}</p>
      </ConfirmDialog>
    </>
  )
}
