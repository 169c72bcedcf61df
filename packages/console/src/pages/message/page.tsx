/** The page with the timeline of a message. */

import { useQuery } from '@tanstack/react-query'
import { useSearch } from 'wouter'
import type { Message } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { readFilter } from '../../parts/filters.ts'
import { CopyableId } from '../../parts/identifier.tsx'
import { FactPanel, PageFrame, Panel, Section } from '../../parts/page.tsx'
import { EncryptedContent } from '../../parts/sealed-content.tsx'
import { Loaded } from '../../parts/states.tsx'
import { numberText } from '../../parts/times.ts'
import { useAddressParts } from '../../parts/use-address.ts'
import { useOperatorNamespace } from '../../parts/use-namespaces.ts'
import { useMay } from '../../session/session.ts'
import { LOCALE } from '../../texts/common.ts'
import { TIMELINE } from '../../texts/messages.ts'
import { PAGES } from '../../texts/pages.ts'
import styles from './message.module.css'
import { Timeline } from './timeline.tsx'

const { facts: NAMES } = TIMELINE
const RELOAD_INTERVAL_MS = 3_000

export function Page() {
  const { message_id } = useAddressParts('message_id')
  const asked = { ...useOperatorNamespace(), ...readFilter(useSearch(), ['namespace']) }
  const query = useQuery({
    queryKey: ['messages', 'timeline', message_id, asked],
    queryFn: () => answerTo(api.GET('/admin/v1/messages/{message_id}', { params: { path: { message_id }, query: asked } })),
    // The page reloads while a step is still to come.
    refetchInterval: ({ state }) => (state.data?.messages.some(hasStepToCome) === true ? RELOAD_INTERVAL_MS : false),
  })
  return (
    <PageFrame
      title={PAGES.message}
      lead={<CopyableId value={message_id} what={NAMES.message_id} />}
      above={<a href="#/messages">{TIMELINE.above}</a>}
    >
      <Loaded query={query} lines={10}>
        {({ messages }) => (
          <>
            {messages.length > 1 && <p className={styles.several}>{TIMELINE.several(numberText(messages.length, LOCALE))}</p>}
            {messages.map((message) => (
              <OneMessage
                key={`${message.participant} ${message.registry} ${message.correlation_id}`}
                message={message}
                asked={asked}
              />
            ))}
          </>
        )}
      </Loaded>
    </PageFrame>
  )
}

const hasStepToCome = ({ steps, waits_for }: Message): boolean =>
  waits_for.length > 0 || steps.some(({ outcome }) => outcome === 'waiting')

interface OneMessageProps {
  readonly message: Message
  /** The registry to which the page is limited, if it is. */
  readonly asked: { readonly namespace?: string | undefined }
}

function OneMessage({ message, asked }: OneMessageProps) {
  const may = useMay()
  const { participant, registry, operation, message_id, transaction_id, correlation_id } = message
  return (
    <>
      <FactPanel
        rows={[
          [NAMES.operation, operation],
          [NAMES.participant, participant && <a href={`#/participants/${encodeURIComponent(participant)}`}>{participant}</a>],
          [NAMES.registry, registry && <a href={`#/registries/${encodeURIComponent(registry)}`}>{registry}</a>],
          [NAMES.transaction_id, transaction_id && <CopyableId value={transaction_id} what={NAMES.transaction_id} />],
          [NAMES.correlation_id, correlation_id && <CopyableId value={correlation_id} what={NAMES.correlation_id} />],
        ]}
      />
      <Section title={TIMELINE.timeline}>
        <Panel padded>
          <Timeline message={message} />
        </Panel>
      </Section>
      {may('audit') && message_id !== null && (
        <EncryptedContent open={(reason) => readDecryptedBodies(message_id, { ...asked, participant, reason })} />
      )}
    </>
  )
}

/** Reads the decrypted bodies of a message. The call names the participant: another one may have used the same message_id. */
async function readDecryptedBodies(
  message_id: string,
  {
    participant,
    ...asked
  }: { readonly namespace?: string | undefined; readonly participant: string | null; readonly reason: string },
) {
  const body = { ...asked, ...(participant !== null && { participant }) }
  const { bodies } = await answerTo(
    api.POST('/admin/v1/messages/{message_id}/bodies', { params: { path: { message_id } }, body }),
  )
  return bodies
}
