/** What happened in the last 24 hours, and what needs somebody. */
import { useQuery } from '@tanstack/react-query'
import { answered, api } from '../../api/client.ts'
import { PageFrame, Panel } from '../../parts/page.tsx'
import { DataTable } from '../../parts/table.tsx'
import { PAGES } from '../../texts/pages.ts'

export function Page() {
  const query = useQuery({
    queryKey: ['registries'],
    queryFn: () => answered(api.GET('/admin/v1/registries')),
  })
  return (
    <PageFrame title={PAGES.overview}>
      <Panel>
        <DataTable
          caption="Registries"
          query={query}
          keyOf={(row) => row.namespace}
          columns={[
            { title: 'Namespace', cell: (row) => row.namespace },
            { title: 'Kind', cell: (row) => row.kind },
          ]}
        />
      </Panel>
    </PageFrame>
  )
}
