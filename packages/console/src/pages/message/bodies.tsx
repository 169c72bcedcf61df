/** The content of a message, for who may see personal data: shown after a reason is typed, and accounted before. */
import { Button, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { answered, api } from '../../api/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Panel, Section } from '../../parts/page.tsx'
import { useAct } from '../../parts/use-act.tsx'
import { BODIES } from '../../texts/messages.ts'
import styles from './message.module.css'

interface BodiesProps {
  readonly message_id: string
  readonly participant: string | null
}

/** The server asks for as much. */
const SHORTEST_REASON = 5

/** What was opened is nowhere but in this page: it is gone when the page is left. */
export function Bodies({ message_id, participant }: BodiesProps) {
  const [opened, dialog] = useDisclosure(false)
  const [reason, setReason] = useState('')
  const act = useAct({
    call: () =>
      answered(
        api.POST('/admin/v1/messages/{message_id}/bodies', {
          params: { path: { message_id } },
          body: { reason, ...(participant !== null && { participant }) },
        }),
      ),
    changes: ['accounts'],
    onOver: () => {
      dialog.close()
      setReason('')
    },
  })
  return (
    <Section
      title={BODIES.title}
      lead={BODIES.lead}
      actions={
        <Button variant="default" onClick={dialog.open}>
          {BODIES.act}
        </Button>
      }
    >
      {act.data !== undefined && (
        <Panel padded>
          <div className={styles.bodies}>
            {act.data.bodies.map(({ what, id, body, problem }) => (
              <Content
                key={`${what} ${id}`}
                title={`${what} ${id}`}
                text={problem ?? JSON.stringify(body, null, 2)}
              />
            ))}
          </div>
        </Panel>
      )}
      <Confirm
        opened={opened}
        title={BODIES.act}
        act={BODIES.open}
        busy={act.isPending}
        disabled={reason.trim().length < SHORTEST_REASON}
        onConfirm={() => act.mutate(undefined)}
        onClose={dialog.close}
      >
        <p>{BODIES.lead}</p>
        <TextInput
          label={BODIES.reason}
          description={BODIES.reasonAdvice}
          data-autofocus
          required
          withAsterisk={false}
          maxLength={255}
          autoComplete="off"
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      </Confirm>
    </Section>
  )
}

/** Text alone: nothing of it is read as HTML. */
const Content = ({ title, text }: { readonly title: string; readonly text: string }) => (
  <figure className={styles.figure}>
    <figcaption className={styles.caption}>{title}</figcaption>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
    <pre className={styles.content} tabIndex={0}>
      {text}
    </pre>
  </figure>
)
