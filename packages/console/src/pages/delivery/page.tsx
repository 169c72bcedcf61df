/** The page of one delivery with every attempt. */
import { useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { CallbackTest } from '../../parts/callback-test.tsx'
import { Code } from '../../parts/code.tsx'
import { CopyableId } from '../../parts/identifier.tsx'
import { FactPanel, PageFrame, Section } from '../../parts/page.tsx'
import { EncryptedContent } from '../../parts/sealed-content.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, PanelTable } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { durationText, numberText } from '../../parts/times.ts'
import { useAddressParts } from '../../parts/use-address.ts'
import { useMay } from '../../session/session.ts'
import { LOCALE } from '../../texts/common.ts'
import { DELIVERY } from '../../texts/deliveries.ts'
import { PAGES } from '../../texts/pages.ts'
import { DeliveryActs } from '../deliveries/acts.tsx'

type Delivery = Answer<'/admin/v1/deliveries/{id}'>
type Attempt = Delivery['made'][number]

const { facts: NAMES, columns: TITLES } = DELIVERY
const RELOAD_INTERVAL_MS = 3_000

const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { title: TITLES.number, cell: ({ number }) => numberText(number, LOCALE) },
  { title: TITLES.at, cell: ({ at }) => <Time at={at} seconds /> },
  { title: TITLES.duration, cell: ({ duration_ms }) => durationText(duration_ms, LOCALE), align: 'end' },
  { title: TITLES.status, cell: ({ status }) => status ?? '–', align: 'end' },
  {
    title: TITLES.error,
    cell: ({ error, cause }) =>
      error === null ? <Badge state={DELIVERY.fine} tone="good" /> : (cause?.meaning ?? <Code value={error} />),
  },
]

export function Page() {
  const { id } = useAddressParts('id')
  const may = useMay()
  const query = useQuery({
    queryKey: ['deliveries', 'one', id],
    queryFn: () => answerTo(api.GET('/admin/v1/deliveries/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data?.state === 'pending' ? RELOAD_INTERVAL_MS : false),
  })
  return (
    <PageFrame
      title={PAGES.delivery}
      lead={<CopyableId value={id} what="id" />}
      above={<a href="#/deliveries">{DELIVERY.above}</a>}
      actions={
        query.data && (
          <>
            {may('operate') && <CallbackTest sender_id={query.data.participant} to={query.data.target} />}
            <DeliveryActs choice={{ ids: [id] }} state={query.data.state} />
          </>
        )
      }
    >
      <Loaded query={query} lines={10}>
        {(delivery) => (
          <>
            <FactPanel rows={factsOf(delivery)} />
            <Section title={DELIVERY.attempts}>
              <PanelTable
                caption={DELIVERY.attemptsCaption}
                columns={ATTEMPT_COLUMNS}
                query={{ ...query, data: delivery.made }}
                keyOf={({ number }) => number}
                empty={<Empty title={DELIVERY.noAttempt} />}
              />
            </Section>
            {may('audit') && <EncryptedContent open={(reason) => readDecryptedBody(id, reason)} />}
          </>
        )}
      </Loaded>
    </PageFrame>
  )
}

function factsOf(delivery: Delivery) {
  const { state, participant, callback, target, page, message_id, correlation_id, reason, cause } = delivery
  const { created_at, next_attempt_at, finished_at } = delivery
  return [
    [NAMES.state, <Badge key="state" state={state} />],
    [NAMES.reason, cause?.meaning ?? reason],
    [DELIVERY.advice, state === 'delivered' ? null : cause?.advice],
    [
      NAMES.participant,
      <a key="participant" href={`#/participants/${encodeURIComponent(participant)}`}>
        {participant}
      </a>,
    ],
    [NAMES.callback, callback],
    [NAMES.target, target && <code key="target">{target}</code>],
    [NAMES.page, numberText(page, LOCALE)],
    [NAMES.created, <Time key="created" at={created_at} seconds />],
    [NAMES.next, next_attempt_at && <Time key="next" at={next_attempt_at} relative />],
    [NAMES.finished, finished_at && <Time key="finished" at={finished_at} seconds />],
    [
      NAMES.message_id,
      <CopyableId key="message" value={message_id} what={NAMES.message_id} to={`/messages/${encodeURIComponent(message_id)}`} />,
    ],
    [NAMES.correlation_id, correlation_id && <CopyableId key="request" value={correlation_id} what="correlation_id" />],
  ] as const
}

const readDecryptedBody = async (id: string, reason: string) => [
  await answerTo(api.POST('/admin/v1/deliveries/{id}/body', { params: { path: { id } }, body: { reason } })),
]
