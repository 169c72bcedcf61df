/** Shows the built message, how to send it, the text to sign, and the answer if the message was sent. */
import { Button, Tabs } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Badge } from '../../parts/badge.tsx'
import { CopyValue } from '../../parts/identifier.tsx'
import { FactList, Panel, Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { TRY } from '../../texts/try.ts'
import styles from './try.module.css'

export interface BuiltSearch {
  readonly envelope: unknown
  readonly curl: string
  readonly typescript: string
  readonly python: string
  readonly java: string
  readonly can_send: boolean
  readonly send_problem: string | null
  readonly signature: {
    readonly required: boolean
    readonly kid: string | null
    readonly algorithm: string | null
    readonly layout: string
    readonly bytes: string | null
  }
  readonly reply: { readonly status: number; readonly body: string } | null
}

interface BuiltProps {
  readonly sender_id: string
  readonly namespace: string
  readonly built: BuiltSearch
  readonly busy: boolean
  readonly onSend: () => void
}

type BuiltSearchTabName = keyof typeof TRY.part

const { signature: NAMES } = TRY
/** The parts that show the same search as a shell command or a program. */
const CODE_PART_NAMES = ['curl', 'typescript', 'python', 'java'] as const

export function BuiltSearchParts({ built, sender_id, namespace, busy, onSend }: BuiltProps) {
  const { reply, can_send, send_problem, envelope } = built
  const [part, setPart] = useState<BuiltSearchTabName>('envelope')
  // After sending, the part with the answer is shown.
  useEffect(() => setPart(reply === null ? 'envelope' : 'answer'), [reply])
  const names = (Object.keys(TRY.part) as BuiltSearchTabName[]).filter((name) => name !== 'answer' || reply !== null)
  return (
    <Section
      title={reply === null ? TRY.result : TRY.answered}
      lead={
        send_problem === null ? (
          TRY.maySend
        ) : (
          <>
            {TRY.mayNotSend(send_problem)} <a href={`#/participants/${encodeURIComponent(sender_id)}`}>{TRY.toParticipant}</a>
          </>
        )
      }
      actions={
        can_send && (
          <Button onClick={onSend} loading={busy}>
            {TRY.send}
          </Button>
        )
      }
    >
      <Panel padded>
        <Tabs value={part} onChange={(value) => setPart(names.find((name) => name === value) ?? 'envelope')}>
          <Tabs.List aria-label={TRY.parts}>
            {names.map((name) => (
              <Tabs.Tab key={name} value={name}>
                {TRY.part[name]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {reply !== null && (
            <Tabs.Panel value="answer" className={styles.part}>
              <ReplyPart
                reply={reply}
                envelope={envelope}
                grant={`#/participants/${encodeURIComponent(sender_id)}/grants/${encodeURIComponent(namespace)}`}
              />
            </Tabs.Panel>
          )}
          <Tabs.Panel value="envelope" className={styles.part}>
            <CopyableCode text={JSON.stringify(envelope, null, 2)} what={TRY.part.envelope} />
          </Tabs.Panel>
          {CODE_PART_NAMES.map((name) => (
            <Tabs.Panel key={name} value={name} className={styles.part}>
              <CopyableCode text={built[name]} what={TRY.part[name]} />
            </Tabs.Panel>
          ))}
          <Tabs.Panel value="signed" className={styles.part}>
            <SignaturePart signature={built.signature} />
          </Tabs.Panel>
        </Tabs>
      </Panel>
    </Section>
  )
}

interface ReplyProps extends Pick<BuiltSearch, 'envelope'> {
  readonly reply: NonNullable<BuiltSearch['reply']>
  /** The address of the grant under which the search was answered. */
  readonly grant: string
}

function ReplyPart({ reply, envelope, grant }: ReplyProps) {
  const id = findHeaderMember(envelope, 'message_id')
  const outcome = findHeaderMember(parseJson(reply.body), 'status')
  const isRejected = outcome === 'rjct'
  const tone = reply.status >= 300 ? 'bad' : isRejected ? 'quiet' : 'good'
  return (
    <>
      <p className={styles.status}>
        {TRY.status} <Badge state={String(reply.status)} tone={tone} />
        {outcome !== null && (
          <>
            {TRY.outcome} <Badge state={outcome} />
          </>
        )}
        {id !== null && <a href={`#/messages/${encodeURIComponent(id)}`}>{TRY.toTimeline}</a>}
      </p>
      {isRejected && (
        <p className={styles.lead}>
          {TRY.rejected} <a href={grant}>{TRY.toGrant}</a>
        </p>
      )}
      <CopyableCode text={formatJson(reply.body)} what={TRY.part.answer} />
    </>
  )
}

function SignaturePart({ signature }: Pick<BuiltSearch, 'signature'>) {
  const { required, kid, algorithm, layout, bytes } = signature
  return (
    <>
      <FactList
        rows={[
          [NAMES.required, required ? NAMES.needed : NAMES.optional],
          [NAMES.kid, kid && <code>{kid}</code>],
          [NAMES.algorithm, algorithm],
          [NAMES.layout, layout],
        ]}
      />
      {bytes === null ? (
        <Empty title={NAMES.none} />
      ) : (
        <>
          <p className={styles.lead}>{NAMES.lead}</p>
          <CopyableCode text={bytes} what={TRY.part.signed} />
        </>
      )}
    </>
  )
}

/** Shows text only; HTML in it is not interpreted. */
const CopyableCode = ({ text, what }: { readonly text: string; readonly what: string }) => (
  <div className={styles.code}>
    <div className={styles.copy}>
      <CopyValue value={text} what={what} />
    </div>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
    <pre className={styles.text} tabIndex={0}>
      {text}
    </pre>
  </div>
)

/** JSON with line breaks; any other text unchanged. */
function formatJson(body: string): string {
  const json = parseJson(body)
  return json === undefined ? body : JSON.stringify(json, null, 2)
}

/** Reads a text as JSON; undefined for other text. */
function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function findHeaderMember(envelope: unknown, name: 'message_id' | 'status'): string | null {
  const { header } = (envelope ?? {}) as { readonly header?: Readonly<Record<string, unknown>> }
  const value = header?.[name]
  return typeof value === 'string' ? value : null
}
