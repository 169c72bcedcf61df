/** Verifies all audit entries: a run is started here and watched, and goes on when the page is left. */
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { CopyValue } from '../../parts/identifier.tsx'
import { FactList, Panel, Section } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import { useAct } from '../../parts/use-act.tsx'
import { VERIFY } from '../../texts/audit-log.ts'
import { LOCALE } from '../../texts/common.ts'
import styles from './audit-log.module.css'

type Progress = Answer<'/admin/v1/accounts/verify'>
type VerificationFinding = NonNullable<Progress['result']>['faults'][number]

const { facts: NAMES, columns: TITLES } = VERIFY
const RELOAD_INTERVAL_MS = 1_000
const QUERY_KEYS_TO_RELOAD = ['verification', 'auditLog']

const FAULT_COLUMNS: readonly Column<VerificationFinding>[] = [
  { title: TITLES.kind, cell: ({ kind }) => kind },
  { title: TITLES.meaning, cell: ({ meaning, detail }) => (detail === null ? meaning : `${meaning} ${detail}`) },
  { title: TITLES.chain, cell: ({ chain }) => chain && <code>{chain}</code>, wideOnly: true },
  { title: TITLES.sequence, cell: ({ sequence }) => sequence, align: 'end' },
]

export function Verification() {
  const query = useQuery({
    queryKey: ['verification'],
    queryFn: () => answerTo(api.GET('/admin/v1/accounts/verify')),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? RELOAD_INTERVAL_MS : false),
  })
  const begin = useAct({
    call: () => answerTo(api.POST('/admin/v1/accounts/verify', { body: {} })),
    changes: QUERY_KEYS_TO_RELOAD,
  })
  const stop = useAct({
    call: () => answerTo(api.POST('/admin/v1/accounts/verify/stop', { body: {} })),
    changes: QUERY_KEYS_TO_RELOAD,
    done: () => VERIFY.stopped,
  })
  const isRunning = query.data?.state === 'running'
  return (
    <Section
      title={VERIFY.title}
      lead={VERIFY.lead}
      actions={
        isRunning ? (
          <Button variant="default" loading={stop.isPending} onClick={() => stop.mutate(undefined)}>
            {VERIFY.stop}
          </Button>
        ) : (
          <Button loading={begin.isPending} onClick={() => begin.mutate(undefined)}>
            {VERIFY.begin}
          </Button>
        )
      }
    >
      <Loaded query={query}>{(progress) => <VerificationProgress progress={progress} />}</Loaded>
      <p className={styles.note}>
        {VERIFY.witness} <code>{VERIFY.command}</code> <CopyValue value={VERIFY.command} what={VERIFY.command} />
      </p>
    </Section>
  )
}

function VerificationProgress({ progress }: { readonly progress: Progress }) {
  const { state, entries, about, result } = progress
  const verified = numberText(entries, LOCALE)
  const faults = result?.faults ?? []
  return (
    <>
      <Panel padded>
        <p className={styles.state} role="status">
          {VERIFY.state[state]}
        </p>
        {state === 'running' && (
          <>
            <progress
              className={styles.progress}
              aria-label={VERIFY.progress}
              {...(about > 0 && { max: Math.max(about, entries), value: entries })}
            />
            <p className={styles.note}>
              {about > 0 ? VERIFY.entries(verified, numberText(about, LOCALE)) : VERIFY.entriesOnly(verified)}
            </p>
          </>
        )}
        {state !== 'none' && <FactList rows={factsOf(progress)} />}
      </Panel>
      {faults.length > 0 && (
        <PanelTable
          caption={VERIFY.faults}
          columns={FAULT_COLUMNS}
          query={rowsAsQuery(faults)}
          keyOf={({ kind, chain, sequence, detail }) => `${kind} ${chain} ${sequence} ${detail}`}
        />
      )}
    </>
  )
}

function factsOf({ by, began_at, ended_at, result }: Progress) {
  return [
    [
      NAMES.result,
      result && <Badge key="result" state={result.good ? VERIFY.good : VERIFY.bad} tone={result.good ? 'good' : 'bad'} />,
    ],
    [NAMES.by, by],
    [NAMES.began, began_at && <Time key="began" at={began_at} seconds />],
    [NAMES.ended, ended_at && <Time key="ended" at={ended_at} seconds />],
    [NAMES.entries, result && numberText(result.counts.entries, LOCALE)],
    [NAMES.chains, result && numberText(result.counts.chains, LOCALE)],
    [NAMES.checkpoints, result && numberText(result.counts.checkpoints, LOCALE)],
    [NAMES.unsigned, result && numberText(result.unsigned, LOCALE)],
    [NAMES.erased, result && numberText(result.counts.erased, LOCALE)],
    [NAMES.pruned, result && numberText(result.counts.pruned, LOCALE)],
    [NAMES.restores, result && numberText(result.restores.length, LOCALE)],
  ] as const
}
