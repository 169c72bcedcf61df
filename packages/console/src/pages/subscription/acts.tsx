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
const QUERY_KEYS_TO_RELOAD = ['subscriptions']

export function SubscriptionActs({ subscription }: { readonly subscription: Subscription }) {
  const { code, state, waiting } = subscription
  const subscriptionPath = { params: { path: { code } }, body: {} }
  const resume = useAct({
    call: () => answerTo(api.POST('/admin/v1/subscriptions/{code}/resume', subscriptionPath)),
    changes: QUERY_KEYS_TO_RELOAD,
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
        changes={QUERY_KEYS_TO_RELOAD}
        done={() => TEST.done}
      >
        <p>{TEST.lead}</p>
      </FormDialog>
      <FormDialog
        danger
        label={CANCEL.act}
        title={CANCEL.act}
        call={() => answerTo(api.POST('/admin/v1/subscriptions/{code}/cancel', subscriptionPath))}
        changes={QUERY_KEYS_TO_RELOAD}
        done={() => CANCEL.done}
      >
        <p>{CANCEL.lead}</p>
        <p>{CANCEL.waiting(numberText(waiting, LOCALE))}</p>
      </FormDialog>
    </>
  )
}
