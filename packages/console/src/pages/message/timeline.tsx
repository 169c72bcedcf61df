/** The steps of a message in one picture: from its arrival to the next expected step. */

import { IconAlertTriangle, IconCheck, IconClock } from '@tabler/icons-react'
import type { Message } from '../../api/answers.ts'
import { Code } from '../../parts/code.tsx'
import { helpAddress } from '../../parts/help-address.ts'
import { Time } from '../../parts/time.tsx'
import { durationText } from '../../parts/times.ts'
import { LOCALE } from '../../texts/common.ts'
import { TIMELINE } from '../../texts/messages.ts'
import styles from './message.module.css'

type TimelineStep = Message['steps'][number]

const OUTCOME_ICONS = { done: IconCheck, failed: IconAlertTriangle, waiting: IconClock } as const

export function Timeline({ message: { steps, waits_for } }: { readonly message: Message }) {
  return (
    <>
      {waits_for.length > 0 && <p className={styles.waits}>{waits_for.join(' ')}</p>}
      <ol className={styles.timeline}>
        {steps.map((step, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are only ever added at the end
          <StepLine key={at} step={step} />
        ))}
      </ol>
    </>
  )
}

function StepLine({ step }: { readonly step: TimelineStep }) {
  const Icon = OUTCOME_ICONS[step.outcome]
  return (
    <li className={styles.step} data-outcome={step.outcome}>
      <span className={styles.dot}>
        <Icon size={14} stroke={2.2} aria-hidden />
      </span>
      <div className={styles.body}>
        <div className={styles.stepHead}>
          <a className={styles.stepTitle} href={helpAddress('message-flow', step.step)} title={TIMELINE.docs}>
            {titleOf(step)}
          </a>
          {step.outcome !== 'done' && !isHeldStep(step) && <span className={styles.word}>{TIMELINE.outcomes[step.outcome]}</span>}
          <span className={styles.when}>
            <Time at={step.at} seconds relative={step.outcome === 'waiting'} />
          </span>
        </div>
        <p className={styles.message}>{step.message}</p>
        <StepDetails step={step} />
      </div>
    </li>
  )
}

/** True for the step that says that the delivery is held: no address was known for it. */
const isHeldStep = ({ step, outcome }: TimelineStep): boolean => step === 'ended' && outcome === 'waiting'

function titleOf(whole: TimelineStep): string {
  const { step, attempt } = whole
  if (isHeldStep(whole)) return TIMELINE.held
  if (attempt !== null) return step === 'next' ? TIMELINE.nextAttempt(attempt) : TIMELINE.attempt(attempt)
  return TIMELINE.steps[step] ?? step
}

function StepDetails({ step: { duration_ms, status, code, key, page, delivery } }: { readonly step: TimelineStep }) {
  const parts = [
    duration_ms === null || duration_ms === 0 ? null : TIMELINE.took(durationText(duration_ms, LOCALE)),
    status === null ? null : TIMELINE.status(status),
    page === null ? null : TIMELINE.page(page),
    key === null ? null : TIMELINE.key(key),
  ].filter((part) => part !== null)
  if (parts.length === 0 && code === null && delivery === null) return null
  return (
    <p className={styles.details}>
      {parts.map((part) => (
        <span key={part}>{part}</span>
      ))}
      {code !== null && <Code value={code} />}
      {delivery !== null && <a href={`#/deliveries/${encodeURIComponent(delivery)}`}>{TIMELINE.toDelivery}</a>}
    </p>
  )
}
