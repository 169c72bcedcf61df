/** The page of one registry: its settings, its attributes, its import, and a synthetic record. */

import { useQuery } from '@tanstack/react-query'
import type { Registry } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { FactPanel, PageFrame } from '../../parts/page.tsx'
import { RemovalDialog } from '../../parts/removal.tsx'
import { Loaded } from '../../parts/states.tsx'
import { numberText } from '../../parts/times.ts'
import { useAddressParts } from '../../parts/use-address.ts'
import { useMay } from '../../session/session.ts'
import { LOCALE } from '../../texts/common.ts'
import { REGISTRY } from '../../texts/registries.ts'
import { Attributes, hasRecordTables } from './attributes.tsx'
import { GrantedParticipants } from './granted.tsx'
import { IdentifierTypes } from './identifier-types.tsx'
import { ImportProgress } from './import-progress.tsx'
import { IndexAdvice } from './index-advice.tsx'
import { SampleRecords } from './sample.tsx'
import { Settings } from './settings.tsx'
import { Source } from './source.tsx'

const { facts: NAMES } = REGISTRY
const RELOAD_INTERVAL_MS = 3_000

export function Page() {
  const { namespace } = useAddressParts('namespace')
  const may = useMay()
  const query = useQuery({
    queryKey: ['registries', 'one', namespace],
    queryFn: () => answerTo(api.GET('/admin/v1/registries/{namespace}', { params: { path: { namespace } } })),
    refetchInterval: ({ state }) => (state.data?.import?.running ? RELOAD_INTERVAL_MS : false),
  })
  return (
    <PageFrame
      title={namespace}
      lead={query.data?.demo ? REGISTRY.demo : undefined}
      above={<a href="#/registries">{REGISTRY.above}</a>}
      actions={
        query.data !== undefined &&
        may('own') && (
          <>
            <Settings registry={query.data} />
            <RemovalDialog
              name={namespace}
              list="registries"
              call={(body) =>
                answerTo(api.POST('/admin/v1/registries/{namespace}/remove', { params: { path: { namespace } }, body }))
              }
            />
          </>
        )
      }
    >
      <Loaded query={query} lines={12}>
        {(registry) => (
          <>
            <FactPanel rows={factsOf(registry)} />
            {registry.source === null ? (
              <ImportProgress registry={registry} />
            ) : (
              <Source registry={registry} source={registry.source} />
            )}
            {hasRecordTables(registry) && <IndexAdvice registry={registry} />}
            <GrantedParticipants namespace={namespace} />
            <Attributes registry={registry} />
            <IdentifierTypes registry={registry} />
            <SampleRecords namespace={namespace} />
          </>
        )}
      </Loaded>
    </PageFrame>
  )
}

function factsOf(registry: Registry) {
  const { kind, environment, sender_id, aliases, time_zone, majority_age, web_origins } = registry
  const known = Object.entries(registry.primary_identifiers).map(([type, name]) => `${type}: ${name}`)
  return [
    ...Object.entries(registry.records).map(([type, number]) => [NAMES.records(type), numberText(number, LOCALE)] as const),
    [NAMES.kind, kind],
    [NAMES.environment, <Badge key="environment" state={environment} />],
    [NAMES.sender_id, <code key="sender">{sender_id}</code>],
    [NAMES.aliases, aliases.length > 0 ? aliases.join(', ') : null],
    [NAMES.primary, known.join(', ')],
    [NAMES.time_zone, time_zone],
    [NAMES.majority_age, majority_age],
    [NAMES.web_origins, web_origins.length > 0 ? web_origins.join(', ') : REGISTRY.noOrigin],
  ] as const
}
