/** A form that publishes an event, in registries of synthetic people. */
import { useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { jsonText } from '../../parts/document.tsx'
import type { DialogField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import type { FormValues } from '../../parts/form-values.ts'
import { hasSyntheticPeople } from '../../parts/synthetic.ts'
import { numberText } from '../../parts/times.ts'
import { useMay } from '../../session/session.ts'
import { LOCALE } from '../../texts/common.ts'
import { EVENTS } from '../../texts/subscriptions.ts'
import styles from './publish.module.css'

const { publish: TEXTS } = EVENTS

export function Publish({ namespace }: { readonly namespace: string }) {
  const may = useMay()
  const registryPath = { params: { path: { namespace } } }
  const { data: registry } = useQuery({
    queryKey: ['registries', 'one', namespace],
    queryFn: () => answerTo(api.GET('/admin/v1/registries/{namespace}', registryPath)),
    enabled: may('publish'),
  })
  const isOffered = may('publish') && registry !== undefined && hasSyntheticPeople(registry)
  const { data: samples = [] } = useQuery({
    queryKey: ['registries', 'sample', namespace],
    queryFn: () => answerTo(api.GET('/admin/v1/registries/{namespace}/sample', registryPath)),
    // A record that somebody edits must not be replaced by a reload.
    staleTime: Number.POSITIVE_INFINITY,
    enabled: isOffered,
  })
  if (!isOffered || samples.length === 0) return null
  const publish = async (given: FormValues) => {
    const [record_type = '', reg_event_type = ''] = [given.text('record_type'), given.text('reg_event_type')]
    const needs = findSampleEvent(samples, record_type, reg_event_type)?.needs ?? []
    const record = needs.reduce(
      (known, { path }) => withValueAtPath(known, path.split('.'), given.text(dateFieldName(record_type, path))),
      given.object(recordFieldName(record_type)),
    )
    // The server checks the record.
    const body = { reg_event_type, record_type, record: record as Record<string, never> }
    return answerTo(api.POST('/admin/v1/registries/{namespace}/events', { ...registryPath, body }))
  }
  const types = samples.map(({ record_type }) => record_type)
  return (
    <div className={styles.publish}>
      <FormDialog
        label={TEXTS.label}
        title={TEXTS.title(namespace)}
        act={TEXTS.act}
        fields={[
          {
            name: 'reg_event_type',
            label: EVENTS.columns.type,
            as: 'choice',
            required: true,
            options: registry.event_types,
            value: registry.event_types[0] ?? '',
          },
          {
            name: 'record_type',
            label: EVENTS.columns.record,
            as: 'choice',
            required: true,
            options: types,
            value: types[0] ?? '',
          },
          ...types.flatMap((type) => registry.event_types.flatMap((event) => fieldsOf(samples, type, event))),
        ]}
        call={publish}
        changes={['events', 'registries', 'overview']}
        done={({ matched }) => TEXTS.done(numberText(matched, LOCALE))}
      >
        <p>{TEXTS.lead}</p>
      </FormDialog>
    </div>
  )
}

type Samples = Answer<'/admin/v1/registries/{namespace}/sample'>

const findSampleEvent = (samples: Samples, type: string, event: string) =>
  samples.find((one) => one.record_type === type)?.events.find((one) => one.event_type === event)

/** The fields of an event: the dates that it needs, and the record. */
function fieldsOf(samples: Samples, type: string, event: string): readonly DialogField[] {
  const { record = {}, needs = [] } = findSampleEvent(samples, type, event) ?? {}
  const when = [
    { field: 'record_type', is: [type] },
    { field: 'reg_event_type', is: [event] },
  ]
  return [
    ...needs.map(({ name, path }) => ({
      name: dateFieldName(type, path),
      label: name,
      as: 'date' as const,
      required: true,
      when,
    })),
    { name: recordFieldName(type), label: TEXTS.record, note: TEXTS.recordNote, as: 'area', when, value: jsonText(record) },
  ]
}

const recordFieldName = (record_type: string): string => `record ${record_type}`
const dateFieldName = (record_type: string, path: string): string => `${record_type} ${path}`

/** Returns the record with a value set at a path. */
function withValueAtPath(
  record: Record<string, unknown>,
  [first = '', ...rest]: readonly string[],
  value: string | undefined,
): Record<string, unknown> {
  if (rest.length === 0) return { ...record, [first]: value }
  const inner = record[first]
  const known = typeof inner === 'object' && inner !== null ? { ...inner } : {}
  return { ...record, [first]: withValueAtPath(known, rest, value) }
}
