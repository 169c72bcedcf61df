/** Buttons for acts on a subscription. */

import { Button } from '@mantine/core'
import type { Subscription } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { numberText } from '../../parts/times.ts'
import { useAct } from '../../parts/use-act.tsx'
import { LOCALE } from '../../texts/common.ts'
import { SUBSCRIPTION } from '../../texts/subscriptions.ts'

const { test: TEST, resume: RESUME, cancel: CANCEL } = SUBSCRIPTION
const CHANGED_QUERY_KEYS = ['subscriptions']

export function SubscriptionActs({ subscription }: { readonly subscription: Subscription }) {
  const { code, state, waiting } = subscription
  const subscriptionPath = { params: { path: { code } }, body: {} }
  const resume = useAct({
    call: () => answerTo(api.POST('/admin/v1/subscriptions/{code}/resume', subscriptionPath)),
    changes: CHANGED_QUERY_KEYS,
    done: () => RESUME.done,
  })
  return (
    <>
      {state === 'suspended' && (
        <Button onClick={() => resume.mutate(undefined)} loading={resume.isPending}>
          {RESUME.act}
        </Button>
      )}
      <FormDialog
        label={TEST.act}
        title={TEST.act}
        act={TEST.confirm}
        call={() => answerTo(api.POST('/admin/v1/subscriptions/{code}/test', subscriptionPath))}
        changes={CHANGED_QUERY_KEYS}
        done={() => TEST.done}
      >
        <p>{TEST.lead}</p>
      </FormDialog>
      <FormDialog
        danger
        label={CANCEL.act}
        title={CANCEL.act}
        call={() => answerTo(api.POST('/admin/v1/subscriptions/{code}/cancel', subscriptionPath))}
        changes={CHANGED_QUERY_KEYS}
        done={() => CANCEL.done}
      >
        <p>{CANCEL.lead}</p>
        <p>{CANCEL.waiting(numberText(waiting, LOCALE))}</p>
      </FormDialog>
    </>
  )
}
