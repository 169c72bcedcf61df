/** The page of one participant: its policies, its rights, and its usage. */

import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Participant } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { DemoPageLink } from '../../parts/demo-page.tsx'
import { CopyableId } from '../../parts/identifier.tsx'
import { FactPanel, PageFrame } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import { useAddressParts } from '../../parts/use-address.ts'
import { LOCALE } from '../../texts/common.ts'
import { PARTICIPANT } from '../../texts/participants.ts'
import { Acts } from './acts.tsx'
import { Callbacks } from './callbacks.tsx'
import { Checks } from './checks.tsx'
import { Grants } from './grants.tsx'
import { Hosts } from './hosts.tsx'
import { Keys } from './keys.tsx'
import { Policies } from './policies.tsx'
import { Quotas } from './quotas.tsx'
import { Secrets } from './secrets.tsx'

const { facts: NAMES } = PARTICIPANT

export function Page() {
  const { sender_id } = useAddressParts('sender_id')
  const query = useQuery({
    queryKey: ['participants', 'one', sender_id],
    queryFn: () => answerTo(api.GET('/admin/v1/participants/{sender_id}', { params: { path: { sender_id } } })),
  })
  return (
    <PageFrame
      title={sender_id}
      lead={query.data && nameAndDemoNote(query.data)}
      above={<a href="#/participants">{PARTICIPANT.above}</a>}
      actions={
        query.data !== undefined && (
          <>
            <Acts participant={query.data} />
            {query.data.demo && <DemoPageLink />}
          </>
        )
      }
    >
      <Loaded query={query} lines={12}>
        {(participant) => (
          <>
            <FactPanel rows={factsOf(participant)} />
            <Grants participant={participant} />
            <Quotas participant={participant} />
            <Keys participant={participant} />
            <Policies participant={participant} />
            <Callbacks participant={participant} />
            <Hosts participant={participant} />
            <Secrets participant={participant} />
            <Checks participant={participant} />
          </>
        )}
      </Loaded>
    </PageFrame>
  )
}

/** The name of a participant, if it differs from the sender_id, and a note if the participant is demo data; else undefined. */
function nameAndDemoNote({ sender_id, name, demo }: Participant): ReactNode {
  if (name === sender_id && !demo) return undefined
  return (
    <>
      {name !== sender_id && <bdi>{name}</bdi>}
      {name !== sender_id && demo && '. '}
      {demo && PARTICIPANT.demo}
    </>
  )
}

/** The text of a participant's limit; null means that the server's limit applies. */
const limitText = (limit: number | 'unlimited' | null): string =>
  typeof limit === 'number' ? numberText(limit, LOCALE) : (limit ?? PARTICIPANT.serversLimit)

function factsOf(participant: Participant) {
  const { status, environment, client_id, last_seen, subscriptions } = participant
  const { rate_limit, concurrency_limit, max_page_size, max_subscriptions } = participant
  const { live, suspended } = subscriptions
  return [
    [NAMES.status, <Badge key="status" state={status} />],
    [NAMES.environment, <Badge key="environment" state={environment} />],
    [NAMES.client_id, <CopyableId key="client" value={client_id} what={NAMES.client_id} />],
    [NAMES.last_seen, last_seen === null ? NAMES.noneSeen : <Time key="seen" at={last_seen} relative />],
    [NAMES.subscriptions, NAMES.subscribed(numberText(live, LOCALE), numberText(suspended, LOCALE))],
    [NAMES.most, limitText(max_subscriptions)],
    [NAMES.rate, limitText(rate_limit)],
    [NAMES.concurrency, limitText(concurrency_limit)],
    [NAMES.page, limitText(max_page_size)],
  ] as const
}
