/** The page with the list of registries. */
import { useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { PageFrame } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, PanelTable } from '../../parts/table.tsx'
import { numberText } from '../../parts/times.ts'
import { useMay, useSession } from '../../session/session.ts'
import { LOCALE } from '../../texts/common.ts'
import { PAGES } from '../../texts/pages.ts'
import { REGISTRIES } from '../../texts/registries.ts'

type Registry = Answer<'/admin/v1/registries'>[number]

const { columns: TITLES, fields: FIELDS } = REGISTRIES
const KINDS: readonly Registry['kind'][] = ['civil', 'ibr', 'ess', 'social', 'disability', 'farmer']
const ENVIRONMENTS: readonly Registry['environment'][] = ['live', 'sandbox']

const COLUMNS: readonly Column<Registry>[] = [
  { title: TITLES.namespace, cell: ({ namespace }) => namespace },
  { title: TITLES.kind, cell: ({ kind }) => kind },
  { title: TITLES.environment, cell: ({ environment }) => <Badge state={environment} /> },
  { title: TITLES.sender, cell: ({ sender_id }) => <code>{sender_id}</code>, wideOnly: true },
  { title: TITLES.records, cell: ({ records }) => recordCountsText(records), align: 'end' },
]

function recordCountsText(records: Registry['records']): string {
  const rows = Object.entries(records)
  const [[, only] = []] = rows
  if (rows.length === 1 && only !== undefined) return numberText(only, LOCALE)
  return rows.map(([type, number]) => `${type} ${numberText(number, LOCALE)}`).join(', ')
}

/** Loads all registries. An operator who is bound to some registries may not list all: then these are loaded one by one. */
function useRegistries() {
  const { registries } = useSession()
  return useQuery({
    queryKey: ['registries', registries ?? 'all'],
    queryFn: (): Promise<Registry[]> =>
      registries === null
        ? answerTo(api.GET('/admin/v1/registries'))
        : Promise.all(
            registries.map((namespace) =>
              answerTo(api.GET('/admin/v1/registries/{namespace}', { params: { path: { namespace } } })),
            ),
          ),
  })
}

export function Page() {
  const may = useMay()
  const query = useRegistries()
  return (
    <PageFrame title={PAGES.registries} lead={REGISTRIES.lead} actions={may('own') && <AddRegistryButton />}>
      <PanelTable
        caption={REGISTRIES.caption}
        columns={COLUMNS}
        query={query}
        keyOf={({ namespace }) => namespace}
        linkOf={({ namespace }) => `/registries/${encodeURIComponent(namespace)}`}
        empty={<Empty title={REGISTRIES.empty}>{REGISTRIES.emptyNote}</Empty>}
      />
    </PageFrame>
  )
}

const AddRegistryButton = () => (
  <FormDialog
    label={REGISTRIES.add}
    title={REGISTRIES.add}
    fields={[
      { name: 'kind', label: FIELDS.kind, as: 'choice', options: KINDS, required: true },
      {
        name: 'environment',
        label: FIELDS.environment,
        note: FIELDS.environmentNote,
        as: 'choice',
        options: ENVIRONMENTS,
        required: true,
      },
      { name: 'namespace', label: FIELDS.namespace, note: FIELDS.namespaceNote },
      { name: 'sender_id', label: FIELDS.sender_id, note: FIELDS.senderNote },
      { name: 'time_zone', label: FIELDS.time_zone, note: FIELDS.timeZoneNote, value: 'UTC' },
      { name: 'majority_age', label: FIELDS.majority_age, note: FIELDS.majorityNote, as: 'number', value: 18 },
    ]}
    call={(given) =>
      answerTo(
        api.POST('/admin/v1/registries', {
          body: {
            kind: given.choice('kind', KINDS) ?? 'civil',
            environment: given.choice('environment', ENVIRONMENTS),
            namespace: given.text('namespace'),
            sender_id: given.text('sender_id'),
            time_zone: given.text('time_zone'),
            majority_age: given.number('majority_age'),
          },
        }),
      )
    }
    changes={['registries']}
    done={({ namespace }) => REGISTRIES.added(namespace)}
  />
)
