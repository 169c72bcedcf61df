/** The page with the list of messages. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { DemoPageLink } from '../../parts/demo-page.tsx'
import { FilteredList } from '../../parts/filtered-list.tsx'
import { filterQueryText } from '../../parts/filters.ts'
import { PageFrame } from '../../parts/page.tsx'
import { reloadInterval } from '../../parts/paging.ts'
import type { Column } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import { useFilter } from '../../parts/use-filter.ts'
import { useNamespaceField, useOperatorNamespace } from '../../parts/use-namespaces.ts'
import { LOCALE } from '../../texts/common.ts'
import { MESSAGE_LIST } from '../../texts/messages.ts'
import { PAGES } from '../../texts/pages.ts'
import { NEXT_STEPS } from '../../texts/steps.ts'
import { messageOutcomeLabel } from './end.ts'

type Message = Answer<'/admin/v1/messages'>['messages'][number]

const { fields: FIELDS, columns: TITLES } = MESSAGE_LIST
const PAGE_ROWS = 25
const OUTCOMES: readonly Message['outcome'][] = ['accepted', 'succeeded', 'partial', 'rejected']

const COLUMNS: readonly Column<Message>[] = [
  { title: TITLES.at, cell: ({ at }) => <Time at={at} seconds /> },
  { title: TITLES.operation, cell: ({ operation }) => operation },
  { title: TITLES.kind, cell: ({ kind }) => kind, wideOnly: true },
  { title: TITLES.participant, cell: ({ participant }) => participant },
  { title: TITLES.registry, cell: ({ registry }) => registry, wideOnly: true },
  { title: TITLES.outcome, cell: (row) => <Badge state={row.outcome} {...messageOutcomeLabel(row)} />, stays: true },
  { title: TITLES.records, cell: ({ records }) => numberText(records, LOCALE), align: 'end' },
]

export function Page() {
  const filter = useFilter(Object.keys(FIELDS))
  const namespace = useNamespaceField(FIELDS.namespace)
  const own = useOperatorNamespace()
  const asked = { ...own, ...filter.values }
  const query = useQuery({
    queryKey: ['messages', asked],
    queryFn: () => answerTo(api.GET('/admin/v1/messages', { params: { query: { ...asked, limit: PAGE_ROWS } } })),
    placeholderData: keepPreviousData,
    refetchInterval: reloadInterval(filter),
  })
  // For an operator who is bound to registries, the link to a message names the chosen registry. For others it names none.
  const ofRegistry = own.namespace === undefined ? '' : filterQueryText({ namespace: asked.namespace })
  const { searched_to = null } = query.data ?? {}
  return (
    <PageFrame title={PAGES.messages} lead={MESSAGE_LIST.lead} actions={<DemoPageLink />}>
      <FilteredList
        filter={filter}
        fields={[
          { name: 'message_id', label: FIELDS.message_id },
          { name: 'participant', label: FIELDS.participant },
          namespace,
          { name: 'outcome', label: FIELDS.outcome, options: OUTCOMES },
          { name: 'transaction_id', label: FIELDS.transaction_id, more: true },
          { name: 'correlation_id', label: FIELDS.correlation_id, more: true },
          { name: 'reference_id', label: FIELDS.reference_id, more: true },
          { name: 'operation', label: FIELDS.operation, more: true },
          { name: 'since', label: FIELDS.since, time: true, more: true },
          { name: 'until', label: FIELDS.until, time: true, more: true },
        ]}
        texts={MESSAGE_LIST}
        step={NEXT_STEPS.search}
        columns={COLUMNS}
        query={{ ...query, data: query.data?.messages }}
        keyOf={({ id }) => id}
        linkOf={({ message_id }) => message_id && `/messages/${encodeURIComponent(message_id)}${ofRegistry}`}
        next={query.data?.next}
        note={
          searched_to !== null && (
            <>
              {MESSAGE_LIST.searchedTo} <Time at={searched_to} />
            </>
          )
        }
      />
    </PageFrame>
  )
}
