/** The page with the list of deliveries. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { FilteredList } from '../../parts/filtered-list.tsx'
import { PageFrame } from '../../parts/page.tsx'
import { reloadInterval } from '../../parts/paging.ts'
import type { Column } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import { useFilter } from '../../parts/use-filter.ts'
import { useNamespaceField, useOperatorNamespace } from '../../parts/use-namespaces.ts'
import { useMay } from '../../session/session.ts'
import { LOCALE } from '../../texts/common.ts'
import { DELIVERIES } from '../../texts/deliveries.ts'
import { PAGES } from '../../texts/pages.ts'
import { NEXT_STEPS } from '../../texts/steps.ts'
import { DeliveryActs, type DeliverySelection } from './acts.tsx'
import styles from './deliveries.module.css'
import { Destinations } from './destinations.tsx'

type Delivery = Answer<'/admin/v1/deliveries'>[number]

const { fields: FIELDS, columns: TITLES } = DELIVERIES
const PAGE_ROWS = 25
const STATES: readonly Delivery['state'][] = ['pending', 'dead', 'refused', 'held', 'delivered', 'dropped']

const COLUMNS: readonly Column<Delivery>[] = [
  { title: TITLES.made, cell: ({ created_at }) => <Time at={created_at} seconds /> },
  { title: TITLES.participant, cell: ({ participant }) => participant },
  { title: TITLES.callback, cell: ({ callback }) => callback, wideOnly: true },
  { title: TITLES.state, cell: ({ state }) => <Badge state={state} />, stays: true },
  { title: TITLES.attempts, cell: ({ attempts }) => numberText(attempts, LOCALE), align: 'end' },
  { title: TITLES.reason, cell: ({ reason, cause }) => cause?.meaning ?? reason },
  { title: TITLES.next, cell: ({ next_attempt_at }) => next_attempt_at && <Time at={next_attempt_at} />, wideOnly: true },
]

/** The next step for an empty list: a search that is answered later makes a delivery. */
const LATER_SEARCH_STEP = { ...NEXT_STEPS.search, to: '/try?answer=later' }

export function Page() {
  const filter = useFilter(Object.keys(FIELDS))
  const namespace = useNamespaceField(FIELDS.namespace)
  const own = useOperatorNamespace()
  const asked = { ...own, ...filter.values }
  const may = useMay()
  const query = useQuery({
    queryKey: ['deliveries', asked],
    queryFn: () => answerTo(api.GET('/admin/v1/deliveries', { params: { query: { ...asked, limit: PAGE_ROWS } } })),
    placeholderData: keepPreviousData,
    refetchInterval: reloadInterval(filter),
  })
  const next = query.data?.length === PAGE_ROWS ? query.data.at(-1)?.id : null
  const { before: _, ...chosen } = filter.values
  return (
    <PageFrame title={PAGES.deliveries} lead={DELIVERIES.lead}>
      {!filter.isSet && <Destinations />}
      <FilteredList
        filter={filter}
        fields={[
          { name: 'state', label: FIELDS.state, options: STATES },
          { name: 'participant', label: FIELDS.participant },
          namespace,
          { name: 'origin', label: FIELDS.origin, more: true },
          { name: 'since', label: FIELDS.since, time: true, more: true },
          { name: 'until', label: FIELDS.until, time: true, more: true },
        ]}
        texts={DELIVERIES}
        step={LATER_SEARCH_STEP}
        columns={COLUMNS}
        query={query}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/deliveries/${encodeURIComponent(id)}`}
        next={next}
      >
        {filter.isSet && may('operate') && (
          <div className={styles.matching}>
            <span className={styles.muted}>{DELIVERIES.matching}</span>
            <DeliveryActs small choice={{ ...own, ...chosen } as DeliverySelection} state={chosen.state} />
          </div>
        )}
      </FilteredList>
    </PageFrame>
  )
}
