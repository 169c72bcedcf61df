/** The view with the participant's subscriptions. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { answerTo } from '../api/client.ts'
import { STATE_TONES } from '../pages/subscriptions/tones.ts'
import { Badge } from '../parts/badge.tsx'
import { FilteredList } from '../parts/filtered-list.tsx'
import { CopyableId } from '../parts/identifier.tsx'
import { PageFrame } from '../parts/page.tsx'
import { pageOfRows } from '../parts/paging.ts'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useFilter } from '../parts/use-filter.ts'
import { PARTNER_SUBSCRIPTIONS as TEXTS } from '../texts/partner.ts'
import { type PartnerAnswer, partnerApi } from './api.ts'

type Subscription = PartnerAnswer<'/partner/api/subscriptions'>[number]

const { columns: TITLES } = TEXTS
const PAGE_ROWS = 25
const STATES: readonly Subscription['state'][] = ['live', 'suspended', 'ended']

const COLUMNS: readonly Column<Subscription>[] = [
  { title: TITLES.code, cell: ({ code }) => <CopyableId value={code} what={TITLES.code} /> },
  { title: TITLES.registry, cell: ({ namespace }) => namespace },
  { title: TITLES.event, cell: ({ event_type }) => event_type },
  { title: TITLES.record, cell: ({ record_type }) => record_type, wideOnly: true },
  { title: TITLES.state, cell: ({ state }) => <Badge state={state} tone={STATE_TONES[state]} />, stays: true },
  { title: TITLES.created, cell: ({ created_at }) => <Time at={created_at} />, wideOnly: true },
]

export function SubscriptionsView() {
  const filter = useFilter(Object.keys(TEXTS.filter))
  const { state, before } = filter.values
  const query = useQuery({
    queryKey: ['subscriptions', filter.values],
    queryFn: () =>
      answerTo(
        partnerApi.GET('/partner/api/subscriptions', {
          params: { query: { state: STATES.find((one) => one === state), before, limit: PAGE_ROWS + 1 } },
        }),
      ),
    placeholderData: keepPreviousData,
  })
  const { rows, next } = pageOfRows(query.data, PAGE_ROWS, ({ code }) => code)
  return (
    <PageFrame title={TEXTS.title} lead={TEXTS.lead}>
      <FilteredList
        filter={filter}
        fields={[{ name: 'state', label: TEXTS.filter.state, options: STATES }]}
        texts={TEXTS}
        columns={COLUMNS}
        query={{ ...query, data: rows }}
        keyOf={({ code }) => code}
        next={next}
      />
    </PageFrame>
  )
}
