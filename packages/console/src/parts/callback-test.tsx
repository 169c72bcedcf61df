/** A button that sends a test message to a participant, and shows how its steps went. */
import { Modal } from '@mantine/core'
import { useState } from 'react'
import { answerTo, api } from '../api/client.ts'
import type { paths } from '../api/schema.d.ts'
import { COMMON } from '../texts/common.ts'
import { PARTICIPANT } from '../texts/participants.ts'
import { Badge } from './badge.tsx'
import styles from './callback-test.module.css'
import { FormDialog } from './form-dialog.tsx'
import { FactList } from './page.tsx'
import { type Column, DataTable, rowsAsQuery } from './table.tsx'

type CallbackTestOperation = paths['/admin/v1/participants/{sender_id}/callback/test']['post']
type Result = CallbackTestOperation['responses'][200]['content']['application/json']

const { test: TEXTS } = PARTICIPANT.callback
const { columns: TITLES } = TEXTS

const TEST_STEP_COLUMNS: readonly Column<Result['steps'][number]>[] = [
  { title: TITLES.step, cell: ({ step }) => step },
  { title: TITLES.state, cell: ({ ok }) => <Badge state={ok ? TEXTS.good : TEXTS.bad} tone={ok ? 'good' : 'bad'} /> },
  { title: TITLES.told, cell: ({ told }) => told },
]

interface CallbackTestProps {
  readonly sender_id: string
  /** The address that the form has at first. */
  readonly to?: string | null
}

export function CallbackTest({ sender_id, to = null }: CallbackTestProps) {
  const [result, setResult] = useState<Result | null>(null)
  return (
    <>
      <FormDialog
        label={TEXTS.label}
        title={TEXTS.title(sender_id)}
        act={TEXTS.act}
        fields={[{ name: 'to', label: TEXTS.to, note: TEXTS.toNote, value: to }]}
        call={(given) =>
          answerTo(
            api.POST('/admin/v1/participants/{sender_id}/callback/test', {
              params: { path: { sender_id } },
              body: { to: given.text('to') },
            }),
          )
        }
        changes={[]}
        onDone={setResult}
      >
        <p>{TEXTS.lead}</p>
      </FormDialog>
      <Modal
        opened={result !== null}
        onClose={() => setResult(null)}
        title={TEXTS.result}
        size="lg"
        closeButtonProps={{ 'aria-label': COMMON.close }}
      >
        {result !== null && <TestResult result={result} />}
      </Modal>
    </>
  )
}

const TestResult = ({ result: { ok, steps, target, status, answer, message_id } }: { readonly result: Result }) => (
  <div className={styles.result}>
    <div>
      <Badge state={ok ? TEXTS.good : TEXTS.bad} tone={ok ? 'good' : 'bad'} /> {ok ? TEXTS.ok : TEXTS.notOk}
    </div>
    <DataTable caption={TEXTS.caption} columns={TEST_STEP_COLUMNS} query={rowsAsQuery(steps)} keyOf={({ step }) => step} />
    <FactList
      rows={[
        [TEXTS.target, target],
        [TEXTS.status, status],
        [TEXTS.message_id, <code key="id">{message_id}</code>],
        [TEXTS.answer, answer === '' ? null : <code key="answer">{answer}</code>],
      ]}
    />
  </div>
)
