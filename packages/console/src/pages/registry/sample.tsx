/** Shows a synthetic record of each type with its schema. */
import { useQuery } from '@tanstack/react-query'
import { answerTo, api } from '../../api/client.ts'
import { SideBySide } from '../../parts/columns.tsx'
import { Document, jsonText } from '../../parts/document.tsx'
import { Panel, Section } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { REGISTRY } from '../../texts/registries.ts'

const { sample: TEXTS } = REGISTRY

export function SampleRecords({ namespace }: { readonly namespace: string }) {
  const query = useQuery({
    queryKey: ['registries', 'sample', namespace],
    queryFn: () => answerTo(api.GET('/admin/v1/registries/{namespace}/sample', { params: { path: { namespace } } })),
    // Every answer has the same synthetic records, so they are loaded once.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Section title={TEXTS.title} lead={TEXTS.lead}>
      <Loaded query={query} lines={8}>
        {(samples) =>
          samples.map(({ record_type, record, schema }) => (
            <Panel key={record_type} padded>
              <SideBySide>
                <Document title={TEXTS.record(record_type)} text={jsonText(record)} />
                <Document title={TEXTS.schema(record_type)} text={jsonText(schema)} />
              </SideBySide>
            </Panel>
          ))
        }
      </Loaded>
    </Section>
  )
}
