/** Lists the grants in the registry, with their participants. */
import { useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, PanelTable } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { REGISTRY } from '../../texts/registries.ts'
import { NEXT_STEPS } from '../../texts/steps.ts'

type Grant = Answer<'/admin/v1/grants'>[number]

const { granted: TEXTS } = REGISTRY
const { columns: TITLES } = TEXTS

const COLUMNS: readonly Column<Grant>[] = [
  { title: TITLES.participant, cell: ({ sender_id }) => sender_id },
  {
    title: TITLES.operations,
    cell: ({ terms: { operations } }) => (typeof operations === 'string' ? operations : operations.join(', ')),
  },
  { title: TITLES.basis, cell: ({ terms }) => terms.basis },
  { title: TITLES.until, cell: ({ valid_until }) => (valid_until === null ? TEXTS.noEnd : <Time at={valid_until} relative />) },
]

export function GrantedParticipants({ namespace }: { readonly namespace: string }) {
  const query = useQuery({
    queryKey: ['grants', { namespace }],
    queryFn: () => answerTo(api.GET('/admin/v1/grants', { params: { query: { namespace } } })),
  })
  return (
    <Section title={TEXTS.title} lead={TEXTS.lead}>
      <PanelTable
        caption={TEXTS.caption}
        columns={COLUMNS}
        query={query}
        keyOf={({ version }) => version}
        linkOf={({ sender_id }) => `/participants/${encodeURIComponent(sender_id)}`}
        empty={
          <Empty next={NEXT_STEPS.grant} title={TEXTS.none}>
            {TEXTS.noneNote}
          </Empty>
        }
      />
    </Section>
  )
}
