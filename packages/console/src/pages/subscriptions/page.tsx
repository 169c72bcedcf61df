/** The page with the list of subscriptions. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { FilteredList } from '../../parts/filtered-list.tsx'
import { PageFrame } from '../../parts/page.tsx'
import { pageOfRows } from '../../parts/paging.ts'
import type { Column } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilter } from '../../parts/use-filter.ts'
import { useNamespaceField, useOperatorNamespace } from '../../parts/use-namespaces.ts'
import { PAGES } from '../../texts/pages.ts'
import { NEXT_STEPS } from '../../texts/steps.ts'
import { SUBSCRIPTIONS } from '../../texts/subscriptions.ts'
import { STATE_TONES } from './tones.ts'

type Subscription = Answer<'/admin/v1/subscriptions'>[number]

const { fields: FIELDS, columns: TITLES } = SUBSCRIPTIONS
const PAGE_ROWS = 25
const STATES: readonly Subscription['state'][] = ['live', 'suspended', 'ended']

const COLUMNS: readonly Column<Subscription>[] = [
  { title: TITLES.code, cell: ({ code }) => <code>{code}</code> },
  { title: TITLES.participant, cell: ({ participant }) => participant },
  { title: TITLES.registry, cell: ({ namespace }) => namespace, wideOnly: true },
  { title: TITLES.event, cell: ({ event_type }) => event_type },
  { title: TITLES.record, cell: ({ record_type }) => record_type, wideOnly: true },
  { title: TITLES.state, cell: ({ state }) => <Badge state={state} tone={STATE_TONES[state]} />, stays: true },
  { title: TITLES.created, cell: ({ created_at }) => <Time at={created_at} /> },
]

export function Page() {
  const filter = useFilter(Object.keys(FIELDS))
  const namespace = useNamespaceField(FIELDS.namespace)
  const asked = { ...useOperatorNamespace(), ...filter.values }
  const query = useQuery({
    queryKey: ['subscriptions', asked],
    queryFn: () => answerTo(api.GET('/admin/v1/subscriptions', { params: { query: { ...asked, limit: PAGE_ROWS + 1 } } })),
    placeholderData: keepPreviousData,
  })
  const { rows, next } = pageOfRows(query.data, PAGE_ROWS, ({ code }) => code)
  return (
    <PageFrame title={PAGES.subscriptions} lead={SUBSCRIPTIONS.lead}>
      <FilteredList
        filter={filter}
        fields={[
          { name: 'participant', label: FIELDS.participant },
          namespace,
          { name: 'state', label: FIELDS.state, options: STATES },
        ]}
        texts={SUBSCRIPTIONS}
        step={NEXT_STEPS.grant}
        columns={COLUMNS}
        query={{ ...query, data: rows }}
        keyOf={({ code }) => code}
        linkOf={({ code }) => `/subscriptions/${encodeURIComponent(code)}`}
        next={next}
      />
    </PageFrame>
  )
}
