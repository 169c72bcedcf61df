/** Fills columns and builds indexes: a run is started here and watched, and goes on when the page is left. */
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { queryClient } from '../../api/queries.ts'
import { FactList, Panel } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { useAct } from '../../parts/use-act.tsx'
import { useMay } from '../../session/session.ts'
import { REGISTRY } from '../../texts/registries.ts'
import styles from './registry.module.css'

type Progress = Answer<'/admin/v1/registries/{namespace}/indexes/build'>

const { build: TEXTS } = REGISTRY
const { facts: NAMES } = TEXTS
const BUILD_PATH = '/admin/v1/registries/{namespace}/indexes/build'
const RELOAD_INTERVAL_MS = 1_000
const RUNNING_BUILD_STATES: readonly Progress['state'][] = ['running', 'elsewhere']

const isUnderWay = (progress: Progress | undefined): boolean =>
  progress !== undefined && RUNNING_BUILD_STATES.includes(progress.state)

function useBuildProgress(namespace: string) {
  const query = useQuery({
    queryKey: ['registries', 'build', namespace],
    queryFn: () => answerTo(api.GET(BUILD_PATH, { params: { path: { namespace } } })),
    refetchInterval: ({ state }) => (isUnderWay(state.data) ? RELOAD_INTERVAL_MS : false),
  })
  // After a run the list of missing indexes is loaded again.
  const before = useRef(false)
  const now = isUnderWay(query.data)
  useEffect(() => {
    if (before.current && !now) void queryClient.invalidateQueries({ queryKey: ['registries', 'one', namespace] })
    before.current = now
  }, [now, namespace])
  return query.data
}

/** The button that begins or stops a build. @param isNeeded false: there is nothing to build */
export function BuildButton({ namespace, isNeeded }: { readonly namespace: string; readonly isNeeded: boolean }) {
  const progress = useBuildProgress(namespace)
  const may = useMay()
  const path = { params: { path: { namespace } }, body: {} }
  const begin = useAct({ call: () => answerTo(api.POST(BUILD_PATH, path)), changes: ['registries'] })
  const stop = useAct({
    call: () => answerTo(api.POST(`${BUILD_PATH}/stop`, path)),
    changes: ['registries'],
    done: () => TEXTS.stopped,
  })
  if (!may('operate') || progress === undefined) return null
  if (progress.state === 'running') {
    return (
      <Button variant="default" loading={stop.isPending} onClick={() => stop.mutate(undefined)}>
        {TEXTS.stop}
      </Button>
    )
  }
  if (!isNeeded || progress.state === 'elsewhere') return null
  return (
    <Button loading={begin.isPending} onClick={() => begin.mutate(undefined)}>
      {TEXTS.begin}
    </Button>
  )
}

export function IndexBuildProgress({ namespace }: { readonly namespace: string }) {
  const progress = useBuildProgress(namespace)
  if (progress === undefined || progress.state === 'none') return null
  const { state, task, done, total } = progress
  return (
    <Panel padded>
      <p className={styles.state} role="status">
        {TEXTS.states[state]} {isUnderWay(progress) && TEXTS.leave}
      </p>
      {state === 'running' && (
        <progress
          className={styles.progress}
          aria-label={TEXTS.progress}
          {...(total > 0 && { max: total, value: Math.min(done, total) })}
        />
      )}
      {task !== null && <p className={styles.note}>{task}</p>}
      {!isUnderWay(progress) && <FactList rows={factsOf(progress)} />}
    </Panel>
  )
}

function factsOf({ by, ended_at, built, filled, failure }: Progress) {
  return [
    [NAMES.failure, failure],
    [NAMES.by, by],
    [NAMES.ended, ended_at && <Time key="ended" at={ended_at} relative />],
    [NAMES.filled, filled.length > 0 ? filled.join(', ') : null],
    [NAMES.built, built.length > 0 ? built.join(', ') : null],
  ] as const
}
