/** The page with the events of a registry. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { DemoPageLink } from '../../parts/demo-page.tsx'
import { FilterForm } from '../../parts/filter-form.tsx'
import { CopyableId } from '../../parts/identifier.tsx'
import { PageFrame, Panel } from '../../parts/page.tsx'
import { Pager } from '../../parts/pager.tsx'
import { pageOfRows, reloadInterval } from '../../parts/paging.ts'
import { Empty, Loaded, NoMatch } from '../../parts/states.tsx'
import { type Column, PanelTable } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import { useFilter } from '../../parts/use-filter.ts'
import { useNamespaceQuery } from '../../parts/use-namespaces.ts'
import { LOCALE } from '../../texts/common.ts'
import { PAGES } from '../../texts/pages.ts'
import { NEXT_STEPS } from '../../texts/steps.ts'
import { EVENTS } from '../../texts/subscriptions.ts'
import { Publish } from './publish.tsx'

type Event = Answer<'/admin/v1/registries/{namespace}/events'>[number]

const { fields: FIELDS, columns: TITLES } = EVENTS
const PAGE_ROWS = 25

const COLUMNS: readonly Column<Event>[] = [
  { title: TITLES.recorded, cell: ({ recorded_at }) => <Time at={recorded_at} seconds /> },
  { title: TITLES.type, cell: ({ event_type }) => event_type },
  { title: TITLES.record, cell: ({ record_type }) => record_type, wideOnly: true },
  { title: TITLES.occurred, cell: ({ occurred_at }) => <Time at={occurred_at} /> },
  { title: TITLES.event_id, cell: ({ event_id }) => <CopyableId value={event_id} what={TITLES.event_id} />, wideOnly: true },
  { title: TITLES.corrected, cell: ({ corrected_by }) => corrected_by, wideOnly: true },
  { title: TITLES.matched, cell: ({ matched }) => numberText(matched, LOCALE), align: 'end' },
  { title: TITLES.id, cell: ({ id }) => id, align: 'end' },
]

export function Page() {
  const namespaces = useNamespaceQuery()
  return (
    <PageFrame title={PAGES.events} lead={EVENTS.lead} actions={<DemoPageLink />}>
      <Loaded query={namespaces}>
        {(names) =>
          names[0] === undefined ? (
            <Panel>
              <Empty next={NEXT_STEPS.addRegistry} title={EVENTS.noRegistry}>
                {EVENTS.noRegistryNote}
              </Empty>
            </Panel>
          ) : (
            <EventsOfRegistry names={names} first={names[0]} />
          )
        }
      </Loaded>
    </PageFrame>
  )
}

/** Shows the events of one registry. `names` are the namespaces to choose from; `first` is chosen at first. */
function EventsOfRegistry({ names, first }: { readonly names: readonly string[]; readonly first: string }) {
  const filter = useFilter(Object.keys(FIELDS))
  const { namespace = first, before, ...conditions } = filter.values
  const isNarrow = Object.keys(conditions).length > 0
  const query = useQuery({
    queryKey: ['events', namespace, filter.values],
    queryFn: () =>
      answerTo(
        api.GET('/admin/v1/registries/{namespace}/events', {
          params: {
            path: { namespace },
            query: { ...conditions, limit: PAGE_ROWS + 1, ...(before && { before: Number(before) }) },
          },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: reloadInterval(filter),
  })
  const { rows, next } = pageOfRows(query.data, PAGE_ROWS, ({ id }) => id)
  return (
    <>
      <FilterForm
        filter={filter}
        fields={[
          { name: 'namespace', label: FIELDS.namespace, options: names, required: true },
          { name: 'event_type', label: FIELDS.event_type },
          { name: 'event_id', label: FIELDS.event_id, more: true },
          { name: 'since', label: FIELDS.since, time: true, more: true },
          { name: 'until', label: FIELDS.until, time: true, more: true },
        ]}
      />
      <Publish key={namespace} namespace={namespace} />
      <PanelTable
        caption={EVENTS.caption}
        columns={COLUMNS}
        query={{ ...query, data: rows }}
        keyOf={({ id }) => id}
        empty={isNarrow ? <NoMatch /> : <Empty title={EVENTS.empty}>{EVENTS.emptyNote}</Empty>}
      />
      <Pager filter={filter} next={next} />
    </>
  )
}
