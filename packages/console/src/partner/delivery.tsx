/** The view of one delivery with its attempts. */
import { useQuery } from '@tanstack/react-query'
import { answerTo } from '../api/client.ts'
import { Badge } from '../parts/badge.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { CopyableId } from '../parts/identifier.tsx'
import { FactPanel, PageFrame, Panel, Section } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { durationText, numberText } from '../parts/times.ts'
import { useAddressParts } from '../parts/use-address.ts'
import { LOCALE } from '../texts/common.ts'
import { PARTNER_DELIVERIES as TEXTS } from '../texts/partner.ts'
import { type PartnerAnswer, partnerApi } from './api.ts'

type Delivery = PartnerAnswer<'/partner/api/deliveries/{message_id}'>
type Attempt = Delivery['made'][number]

const { facts: FACTS, attempt: TITLES } = TEXTS

const DELIVERY_ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { title: TITLES.number, cell: ({ number }) => numberText(number, LOCALE) },
  { title: TITLES.at, cell: ({ at }) => <Time at={at} seconds /> },
  { title: TITLES.duration, cell: ({ duration_ms }) => durationText(duration_ms, LOCALE), align: 'end' },
  { title: TITLES.status, cell: ({ status }) => status, align: 'end' },
  { title: TITLES.cause, cell: ({ cause }) => cause?.meaning },
]

export function DeliveryView() {
  const { message_id } = useAddressParts('message_id')
  const query = useQuery({
    queryKey: ['deliveries', message_id],
    queryFn: () => answerTo(partnerApi.GET('/partner/api/deliveries/{message_id}', { params: { path: { message_id } } })),
  })
  return (
    <PageFrame
      title={TEXTS.one}
      above={<a href="#/deliveries">{TEXTS.above}</a>}
      actions={query.data?.replayable && <SendAgainButton delivery={query.data} />}
    >
      <Loaded query={query}>{(delivery) => <DeliveryDetails delivery={delivery} />}</Loaded>
    </PageFrame>
  )
}

function DeliveryDetails({ delivery }: { readonly delivery: Delivery }) {
  const { message_id, correlation_id, state, namespace, callback, target, cause, made } = delivery
  return (
    <>
      <FactPanel
        rows={[
          [FACTS.state, <Badge key="state" state={state} />],
          [FACTS.registry, namespace],
          [FACTS.callback, callback],
          [FACTS.target, target],
          [FACTS.made, <Time key="made" at={delivery.created_at} seconds />],
          [FACTS.next, delivery.next_attempt_at && <Time key="next" at={delivery.next_attempt_at} relative />],
          [FACTS.finished, delivery.finished_at && <Time key="end" at={delivery.finished_at} seconds />],
          [FACTS.message_id, <CopyableId key="message" value={message_id} what={FACTS.message_id} />],
          [FACTS.correlation_id, correlation_id && <CopyableId key="of" value={correlation_id} what={FACTS.correlation_id} />],
        ]}
      />
      {cause !== null && (
        <Section title={TEXTS.cause}>
          <Panel padded>
            {cause.meaning} {cause.advice}
          </Panel>
        </Section>
      )}
      <Section title={TEXTS.attempts}>
        <PanelTable
          caption={TEXTS.attemptsCaption}
          columns={DELIVERY_ATTEMPT_COLUMNS}
          query={rowsAsQuery(made)}
          keyOf={({ number }) => number}
          empty={<Empty title={TEXTS.noAttempts} />}
        />
      </Section>
    </>
  )
}

const SendAgainButton = ({ delivery: { message_id } }: { readonly delivery: Delivery }) => (
  <FormDialog
    main
    label={TEXTS.again}
    title={TEXTS.againTitle}
    call={() => answerTo(partnerApi.POST('/partner/api/deliveries/replay', { body: { message_ids: [message_id] } }))}
    changes={['deliveries']}
    done={() => TEXTS.sent}
  >
    <p>{TEXTS.againLead}</p>
  </FormDialog>
)
