/** The list of acts that wait, or waited, for a second operator. */
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
import { useSession } from '../../session/session.ts'
import { APPROVALS } from '../../texts/approvals.ts'
import { LOCALE } from '../../texts/common.ts'
import { PAGES } from '../../texts/pages.ts'
import { NEXT_STEPS } from '../../texts/steps.ts'
import { diffSubjectText } from '../approval/diff.ts'

type Proposal = Answer<'/admin/v1/proposals'>[number]

const { fields: FIELDS, columns: TITLES } = APPROVALS
/** The most proposals that are shown, of all states and of one state. The newest are shown. */
const [MOST_ROWS, MOST_ROWS_OF_STATE] = [50, 1_000]
const STATES: readonly Proposal['state'][] = [
  ...(['waiting', 'approved', 'done', 'failed', 'declined', 'outdated', 'lapsed'] as const),
]

const COLUMNS: readonly Column<Proposal>[] = [
  { title: TITLES.act, cell: ({ act }) => act },
  { title: TITLES.about, cell: ({ diff }) => diffSubjectText(diff) },
  { title: TITLES.state, cell: ({ state }) => <Badge state={state} />, stays: true },
  { title: TITLES.by, cell: ({ proposed_by }) => proposed_by },
  { title: TITLES.at, cell: ({ proposed_at }) => <Time at={proposed_at} /> },
  {
    title: TITLES.lapses,
    cell: ({ state, lapses_at }) => state === 'waiting' && <Time at={lapses_at} relative />,
    wideOnly: true,
  },
  { title: TITLES.decided, cell: ({ decided_by }) => decided_by, wideOnly: true },
]

export function Page() {
  const { two_person } = useSession()
  const filter = useFilter(Object.keys(FIELDS))
  const state = STATES.find((one) => one === filter.values.state)
  const limit = state === undefined ? MOST_ROWS : MOST_ROWS_OF_STATE
  const query = useQuery({
    queryKey: ['proposals', 'list', state],
    queryFn: () => answerTo(api.GET('/admin/v1/proposals', { params: { query: { ...(state && { state }), limit } } })),
    placeholderData: keepPreviousData,
    refetchInterval: reloadInterval(filter),
  })
  return (
    <PageFrame title={PAGES.approvals} lead={two_person ? APPROVALS.lead : APPROVALS.off}>
      <FilteredList
        filter={filter}
        fields={[{ name: 'state', label: FIELDS.state, options: STATES }]}
        texts={APPROVALS}
        step={NEXT_STEPS.approvals}
        columns={COLUMNS}
        query={query}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/approvals/${encodeURIComponent(id)}`}
      >
        {query.data?.length === limit && <p>{APPROVALS.cut(numberText(limit, LOCALE), state === undefined)}</p>}
      </FilteredList>
    </PageFrame>
  )
}
