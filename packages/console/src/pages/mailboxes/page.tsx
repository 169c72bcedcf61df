/** The page with the list of mailboxes: notifications that wait for a participant, in order. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { FilteredList } from '../../parts/filtered-list.tsx'
import { PageFrame } from '../../parts/page.tsx'
import type { Column } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import { useFilter } from '../../parts/use-filter.ts'
import { useNamespaceField, useOperatorNamespace } from '../../parts/use-namespaces.ts'
import { LOCALE } from '../../texts/common.ts'
import { MAILBOXES } from '../../texts/mailboxes.ts'
import { PAGES } from '../../texts/pages.ts'
import { NEXT_STEPS } from '../../texts/steps.ts'

type Mailbox = Answer<'/admin/v1/mailboxes'>[number]

const { fields: FIELDS, columns: TITLES } = MAILBOXES
const STATES: readonly Mailbox['state'][] = ['open', 'closed']
const PAGE_ROWS = 50

const COLUMNS: readonly Column<Mailbox>[] = [
  { title: TITLES.participant, cell: ({ participant }) => participant },
  { title: TITLES.registry, cell: ({ registry }) => registry },
  { title: TITLES.state, cell: (mailbox) => <StateBadge mailbox={mailbox} />, stays: true },
  { title: TITLES.waiting, cell: ({ waiting }) => numberText(waiting, LOCALE), align: 'end' },
  { title: TITLES.due, cell: ({ oldest_due }) => oldest_due && <Time at={oldest_due} relative />, wideOnly: true },
  { title: TITLES.sequence, cell: ({ sequence }) => numberText(sequence, LOCALE), align: 'end', wideOnly: true },
  {
    title: TITLES.subscriptions,
    cell: ({ subscriptions, suspended }) =>
      suspended > 0
        ? MAILBOXES.suspended(numberText(subscriptions, LOCALE), numberText(suspended, LOCALE))
        : numberText(subscriptions, LOCALE),
    align: 'end',
  },
]

const StateBadge = ({ mailbox: { state, held_since } }: { readonly mailbox: Mailbox }) =>
  held_since === null ? <Badge state={state} tone={state === 'closed' ? 'bad' : 'good'} /> : <Badge state="held" />

export function Page() {
  const filter = useFilter(Object.keys(FIELDS))
  const namespace = useNamespaceField(FIELDS.namespace)
  const asked = { ...useOperatorNamespace(), ...filter.values }
  const query = useQuery({
    queryKey: ['mailboxes', asked],
    queryFn: () => answerTo(api.GET('/admin/v1/mailboxes', { params: { query: { ...asked, limit: PAGE_ROWS } } })),
    placeholderData: keepPreviousData,
  })
  const next = query.data?.length === PAGE_ROWS ? query.data.at(-1)?.id : null
  return (
    <PageFrame title={PAGES.mailboxes} lead={MAILBOXES.lead}>
      <FilteredList
        filter={filter}
        fields={[
          { name: 'participant', label: FIELDS.participant },
          namespace,
          { name: 'state', label: FIELDS.state, options: STATES },
        ]}
        texts={MAILBOXES}
        step={NEXT_STEPS.subscriptions}
        columns={COLUMNS}
        query={query}
        keyOf={({ id }) => id}
        linkOf={({ participant }) => `/subscriptions?participant=${encodeURIComponent(participant)}`}
        next={next}
      />
    </PageFrame>
  )
}
