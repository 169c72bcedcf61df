/** The page of one subscription with its mailbox. */

import { useQuery } from '@tanstack/react-query'
import type { Subscription } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { CopyableId } from '../../parts/identifier.tsx'
import { FactPanel, PageFrame, Section } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import { useAddressParts } from '../../parts/use-address.ts'
import { useMay } from '../../session/session.ts'
import { LOCALE } from '../../texts/common.ts'
import { PAGES } from '../../texts/pages.ts'
import { SUBSCRIPTION } from '../../texts/subscriptions.ts'
import { STATE_TONES } from '../subscriptions/tones.ts'
import { SubscriptionActs } from './acts.tsx'

const { facts: NAMES, mailbox: MAILBOX } = SUBSCRIPTION

export function Page() {
  const { code } = useAddressParts('code')
  const may = useMay()
  const query = useQuery({
    queryKey: ['subscriptions', 'one', code],
    queryFn: () => answerTo(api.GET('/admin/v1/subscriptions/{code}', { params: { path: { code } } })),
  })
  return (
    <PageFrame
      title={PAGES.subscription}
      lead={<CopyableId value={code} what={SUBSCRIPTION.what} />}
      above={<a href="#/subscriptions">{SUBSCRIPTION.above}</a>}
      actions={
        may('operate') &&
        query.data !== undefined &&
        query.data.state !== 'ended' && <SubscriptionActs subscription={query.data} />
      }
    >
      <Loaded query={query} lines={10}>
        {(subscription) => (
          <>
            <FactPanel rows={factsOf(subscription)} />
            <Section title={MAILBOX.title} lead={MAILBOX.lead}>
              <FactPanel rows={mailboxFacts(subscription)} />
            </Section>
          </>
        )}
      </Loaded>
    </PageFrame>
  )
}

function factsOf(subscription: Subscription) {
  const { state, reason, participant, namespace, event_type, record_type, cron, locale } = subscription
  const { sender_uri, waiting, created_at, start_at, end_at, ended_at } = subscription
  const { transaction_id, correlation_id, reference_id } = subscription
  return [
    [NAMES.state, <Badge key="state" state={state} tone={STATE_TONES[state]} />],
    [NAMES.reason, reason],
    [
      NAMES.participant,
      <a key="participant" href={`#/participants/${encodeURIComponent(participant)}`}>
        {participant}
      </a>,
    ],
    [
      NAMES.registry,
      <a key="registry" href={`#/registries/${encodeURIComponent(namespace)}`}>
        {namespace}
      </a>,
    ],
    [NAMES.event, event_type],
    [NAMES.record, record_type],
    [NAMES.cron, cron === null ? SUBSCRIPTION.atOnce : <code key="cron">{cron}</code>],
    [NAMES.locale, locale],
    [NAMES.waiting, numberText(waiting, LOCALE)],
    [NAMES.created, <Time key="created" at={created_at} seconds />],
    [NAMES.start, start_at && <Time key="start" at={start_at} />],
    [NAMES.end, end_at && <Time key="end" at={end_at} relative />],
    [NAMES.ended, ended_at && <Time key="ended" at={ended_at} seconds />],
    [NAMES.sender_uri, sender_uri && <code key="uri">{sender_uri}</code>],
    [NAMES.transaction_id, <CopyableId key="transaction" value={transaction_id} what={NAMES.transaction_id} />],
    [NAMES.correlation_id, <CopyableId key="correlation" value={correlation_id} what={NAMES.correlation_id} />],
    [NAMES.reference_id, <CopyableId key="reference" value={reference_id} what={NAMES.reference_id} />],
  ] as const
}

const mailboxFacts = ({ mailbox }: Subscription) =>
  [
    [MAILBOX.state, <Badge key="state" state={mailbox.state} />],
    [MAILBOX.closed, mailbox.closed_at && <Time key="closed" at={mailbox.closed_at} relative />],
    [MAILBOX.waiting, numberText(mailbox.waiting, LOCALE)],
    [MAILBOX.sequence, numberText(mailbox.sequence, LOCALE)],
    [MAILBOX.subscriptions, numberText(mailbox.subscriptions, LOCALE)],
    [MAILBOX.id, <CopyableId key="id" value={mailbox.id} what={MAILBOX.id} />],
  ] as const
