/** The view with the deliveries to the participant. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { answerTo } from '../api/client.ts'
import { Badge } from '../parts/badge.tsx'
import { FilteredList } from '../parts/filtered-list.tsx'
import { PageFrame } from '../parts/page.tsx'
import { pageOfRows, reloadInterval } from '../parts/paging.ts'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { numberText } from '../parts/times.ts'
import { useFilter } from '../parts/use-filter.ts'
import { LOCALE } from '../texts/common.ts'
import { PARTNER_DELIVERIES as TEXTS } from '../texts/partner.ts'
import { type PartnerAnswer, partnerApi } from './api.ts'

type Delivery = PartnerAnswer<'/partner/api/deliveries'>[number]

const { columns: TITLES } = TEXTS
const PAGE_ROWS = 25
const STATES: readonly Delivery['state'][] = ['pending', 'dead', 'refused', 'held', 'delivered', 'dropped']

const COLUMNS: readonly Column<Delivery>[] = [
  { title: TITLES.made, cell: ({ created_at }) => <Time at={created_at} seconds /> },
  { title: TITLES.registry, cell: ({ namespace }) => namespace },
  { title: TITLES.callback, cell: ({ callback }) => callback, wideOnly: true },
  { title: TITLES.state, cell: ({ state }) => <Badge state={state} />, stays: true },
  { title: TITLES.attempts, cell: ({ attempts }) => numberText(attempts, LOCALE), align: 'end' },
  { title: TITLES.cause, cell: ({ cause }) => cause?.meaning, wideOnly: true },
]

export function DeliveriesView() {
  const filter = useFilter(Object.keys(TEXTS.filter))
  const { state, before } = filter.values
  const query = useQuery({
    queryKey: ['deliveries', filter.values],
    queryFn: () =>
      answerTo(
        partnerApi.GET('/partner/api/deliveries', {
          params: { query: { state: STATES.find((one) => one === state), before, limit: PAGE_ROWS + 1 } },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: reloadInterval(filter),
  })
  const { rows, next } = pageOfRows(query.data, PAGE_ROWS, ({ message_id }) => message_id)
  return (
    <PageFrame title={TEXTS.title} lead={TEXTS.lead}>
      <FilteredList
        filter={filter}
        fields={[{ name: 'state', label: TEXTS.filter.state, options: STATES }]}
        texts={TEXTS}
        columns={COLUMNS}
        query={{ ...query, data: rows }}
        keyOf={({ message_id }) => message_id}
        linkOf={({ message_id }) => `/deliveries/${encodeURIComponent(message_id)}`}
        next={next}
      />
    </PageFrame>
  )
}
