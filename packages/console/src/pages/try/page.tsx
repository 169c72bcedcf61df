/** The page that tries out a search: builds it in a form, and sends it in a demo or a sandbox. */
import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answerTo, api } from '../../api/client.ts'
import { PageFrame, Panel, Section } from '../../parts/page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { useAct } from '../../parts/use-act.tsx'
import { useNamespaceQuery } from '../../parts/use-namespaces.ts'
import { PAGES } from '../../texts/pages.ts'
import { NEXT_STEPS } from '../../texts/steps.ts'
import { TRY } from '../../texts/try.ts'
import { BuiltSearchParts } from './built.tsx'
import { type TrialRequest, TryForm } from './form.tsx'
import styles from './try.module.css'

const SAMPLES_FRESH_MS = 300_000

export function Page() {
  const namespaces = useNamespaceQuery()
  return (
    <PageFrame title={PAGES.try} lead={TRY.lead}>
      <Loaded query={namespaces}>
        {(names) =>
          names[0] === undefined ? (
            <Panel>
              <Empty next={NEXT_STEPS.addRegistry} title={TRY.noRegistry}>
                {TRY.noRegistryNote}
              </Empty>
            </Panel>
          ) : (
            <SearchTrial names={names} first={names[0]} />
          )
        }
      </Loaded>
    </PageFrame>
  )
}

/** Builds and sends a search of one registry. `names` are the namespaces to choose from; `first` is chosen at first. */
function SearchTrial({ names, first }: { readonly names: readonly string[]; readonly first: string }) {
  const [namespace, setNamespace] = useState(first)
  const registryPath = { params: { path: { namespace } } }
  const registry = useQuery({
    queryKey: ['registries', 'one', namespace],
    queryFn: () => answerTo(api.GET('/admin/v1/registries/{namespace}', registryPath)),
  })
  const samples = useQuery({
    queryKey: ['registries', 'sample', namespace],
    queryFn: () => answerTo(api.GET('/admin/v1/registries/{namespace}/sample', registryPath)),
    staleTime: SAMPLES_FRESH_MS,
    retry: false,
  })
  const act = useAct({
    call: (body: TrialRequest) => answerTo(api.POST('/admin/v1/registries/{namespace}/try', { ...registryPath, body })),
    changes: ['messages', 'auditLog'],
  })
  const [last, setLast] = useState<TrialRequest | null>(null)
  const build = (tried: TrialRequest) => {
    setLast(tried)
    act.mutate(tried)
  }
  return (
    <>
      <Section title={TRY.form}>
        <Panel padded>
          <div className={styles.form}>
            <div className={styles.fields}>
              <NativeSelect
                label={TRY.fields.namespace}
                data={[...names]}
                value={namespace}
                onChange={(event) => {
                  setNamespace(event.currentTarget.value)
                  act.reset()
                }}
              />
            </div>
            <Loaded query={registry}>
              {(found) =>
                samples.isPending ? null : (
                  <TryForm key={namespace} registry={found} samples={samples.data ?? []} busy={act.isPending} onBuild={build} />
                )
              }
            </Loaded>
          </div>
        </Panel>
      </Section>
      {act.data !== undefined && last !== null && (
        <BuiltSearchParts
          built={act.data}
          sender_id={last.sender_id}
          namespace={namespace}
          busy={act.isPending}
          onSend={() => act.mutate({ ...last, send: true })}
        />
      )}
    </>
  )
}
