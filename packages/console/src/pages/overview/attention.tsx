/** A list of matters that need an operator, in a fixed order that begins with the health of the server. */

import { IconAlertTriangle, IconCircleCheck, IconPlugConnectedX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Overview } from '../../api/answers.ts'
import { Panel, Section } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import type { Tone } from '../../parts/tones.ts'
import { LOCALE } from '../../texts/common.ts'
import { OVERVIEW } from '../../texts/overview.ts'
import { comingEndPageAddress } from './ends.tsx'
import styles from './overview.module.css'

interface Issue {
  readonly tone: Extract<Tone, 'bad' | 'warn' | 'info'>
  readonly text: string
  readonly note?: ReactNode
  /** The address of the page where the matter can be solved. */
  readonly to: string
}

const TEXTS = OVERVIEW.issues
const countText = (value: number) => numberText(value, LOCALE)

function issuesOf({ health, breakers, deliveries, emergencies, proposals, expiring }: Overview): readonly Issue[] {
  const issueUnlessZero = (value: number, text: (count: string) => string, tone: Issue['tone'], to: string) =>
    value === 0 ? [] : [{ tone, text: text(countText(value)), to }]
  return [
    ...(health.ready ? [] : [{ tone: 'bad', text: TEXTS.notReady, to: '/settings' } as const]),
    ...(health.database === 'closed' ? [] : [{ tone: 'bad', text: TEXTS.databaseOpen, to: '/settings' } as const]),
    ...issueUnlessZero(health.overdue, TEXTS.overdue, 'bad', '/messages?outcome=accepted'),
    ...issueUnlessZero(health.outbox.failed, TEXTS.outboxFailed, 'bad', '/events'),
    ...issueUnlessZero(deliveries.dead, TEXTS.dead, 'bad', '/deliveries?state=dead'),
    ...breakers.map(({ participant, origin, failures, probe_at }) => ({
      tone: 'bad' as const,
      text: TEXTS.breaker(participant, origin),
      note: (
        <>
          {TEXTS.breakerNote(countText(failures))} <Time at={probe_at} relative />
        </>
      ),
      to: `/deliveries?participant=${encodeURIComponent(participant)}`,
    })),
    ...issueUnlessZero(deliveries.failing, TEXTS.failing, 'warn', '/deliveries?state=pending'),
    ...health.closed_mailboxes.map((who) => ({
      tone: 'bad' as const,
      text: TEXTS.closedMailbox(who),
      to: `/subscriptions?participant=${encodeURIComponent(who)}`,
    })),
    ...issueUnlessZero(deliveries.held, TEXTS.held, 'warn', '/deliveries?state=held'),
    ...issueUnlessZero(health.unwitnessed, TEXTS.unwitnessed, 'warn', '/accounts'),
    ...issueUnlessZero(health.schema_ahead, TEXTS.schemaAhead, 'warn', '/settings'),
    ...issueUnlessZero(emergencies, TEXTS.emergencies, 'warn', '/accounts'),
    ...issueUnlessZero(proposals, TEXTS.proposals, 'info', '/approvals'),
    ...expiring
      .slice(0, 1)
      .map((first) => ({
        tone: 'info' as const,
        text: TEXTS.expiring(countText(expiring.length)),
        to: comingEndPageAddress(first),
      })),
  ]
}

export function Attention({ overview }: { readonly overview: Overview }) {
  const issues = issuesOf(overview)
  return (
    <Section title={OVERVIEW.attention}>
      <Panel>
        {issues.length === 0 ? (
          <div className={styles.well}>
            <IconCircleCheck size={22} stroke={1.6} aria-hidden />
            <div>
              <strong>{OVERVIEW.nothing}</strong>
              <div className={styles.note}>{OVERVIEW.nothingNote}</div>
            </div>
          </div>
        ) : (
          <ul className={styles.issues}>
            {issues.map((issue) => (
              <li key={issue.text}>
                <IssueLine issue={issue} />
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </Section>
  )
}

function IssueLine({ issue: { tone, text, note, to } }: { readonly issue: Issue }) {
  const Icon = tone === 'bad' ? IconPlugConnectedX : IconAlertTriangle
  return (
    <a className={styles.issue} href={`#${to}`} data-tone={tone}>
      <Icon size={20} stroke={1.6} aria-hidden />
      <span>
        {text}
        {note !== undefined && <span className={styles.note}>{note}</span>}
      </span>
    </a>
  )
}
