/** Shows personal content to roles that may see it, after a reason is typed and the access has an audit entry. */
import { Button, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { SEALED_CONTENT } from '../texts/sealed-content.ts'
import { ConfirmDialog } from './confirm.tsx'
import { Document, jsonText } from './document.tsx'
import { Panel, Section } from './page.tsx'
import styles from './sealed-content.module.css'
import { useAct } from './use-act.tsx'

/** The decrypted body of a message, or the reason why it cannot be opened. */
interface OpenedBody {
  readonly what: string
  readonly id: string
  readonly body?: unknown
  /** The reason why the body cannot be opened; null when it can. */
  readonly problem: string | null
}

interface EncryptedContentProps {
  readonly open: (reason: string) => Promise<readonly OpenedBody[]>
}

/** The shortest reason, in characters, that the server accepts. */
const LEAST_REASON_CHARACTERS = 5

/** Shows encrypted content after a click. Only this page keeps the opened content: leaving the page removes it. */
export function EncryptedContent({ open }: EncryptedContentProps) {
  const [opened, dialog] = useDisclosure(false)
  const [reason, setReason] = useState('')
  const act = useAct({
    call: () => open(reason),
    changes: ['auditLog'],
    onOver: () => {
      dialog.close()
      setReason('')
    },
  })
  return (
    <Section
      title={SEALED_CONTENT.title}
      lead={SEALED_CONTENT.lead}
      actions={
        <Button variant="default" onClick={dialog.open}>
          {SEALED_CONTENT.act}
        </Button>
      }
    >
      {act.data !== undefined && (
        <Panel padded>
          <div className={styles.bodies}>
            {act.data.map(({ what, id, body, problem }) => (
              <Document key={`${what} ${id}`} title={`${what} ${id}`} text={problem ?? jsonText(body)} copied={false} />
            ))}
          </div>
        </Panel>
      )}
      <ConfirmDialog
        opened={opened}
        title={SEALED_CONTENT.act}
        act={SEALED_CONTENT.open}
        busy={act.isPending}
        disabled={reason.trim().length < LEAST_REASON_CHARACTERS}
        onConfirm={() => act.mutate(undefined)}
        onClose={dialog.close}
      >
        <p>{SEALED_CONTENT.lead}</p>
        <TextInput
          label={SEALED_CONTENT.reason}
          description={SEALED_CONTENT.reasonAdvice}
          data-autofocus
          required
          withAsterisk={false}
          maxLength={255}
          autoComplete="off"
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      </ConfirmDialog>
    </Section>
  )
}
