/** Shows the source of a registry: where the database is, whether it answers, and what a check finds. */

import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Registry, SourceCheck, SourceStatus } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { ActProposed } from '../../api/fault.ts'
import { Badge } from '../../parts/badge.tsx'
import { CopyValue } from '../../parts/identifier.tsx'
import { FactPanel, Panel, Section } from '../../parts/page.tsx'
import { Empty, Fault, Loaded } from '../../parts/states.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { durationText, numberText } from '../../parts/times.ts'
import type { Tone } from '../../parts/tones.ts'
import { useAct } from '../../parts/use-act.tsx'
import { useMay } from '../../session/session.ts'
import { LOCALE } from '../../texts/common.ts'
import { SOURCE_TEXTS as TEXTS } from '../../texts/source.ts'
import { ImportProblems, importProblems } from './import-progress.tsx'

const { facts: NAMES, columns: TITLES } = TEXTS
const RELOAD_INTERVAL_MS = 3_000

type RecordTypeCheck = SourceCheck['records'][number]
type SlowSearch = RecordTypeCheck['slow'][number]

/** The members of a source file that are shown. The server has checked the file. */
interface ShownSource {
  readonly engine?: string
  readonly way?: string
  readonly url?: { readonly env?: string; readonly file?: string }
  readonly records?: Readonly<Record<string, { readonly from?: string; readonly key?: string }>>
}

interface SourceProps {
  readonly registry: Registry
  readonly source: NonNullable<Registry['source']>
}

export function Source({ registry: { namespace, source_away }, source }: SourceProps) {
  const may = useMay()
  const [checked, setChecked] = useState<SourceCheck | null>(null)
  const check = useAct({
    call: () =>
      answerTo(api.POST('/admin/v1/registries/{namespace}/source/check', { params: { path: { namespace } }, body: {} })),
    changes: ['registries'],
    onDone: setChecked,
  })
  const button = may('operate') && (
    <Button loading={check.isPending} onClick={() => check.mutate(undefined)}>
      {TEXTS.check}
    </Button>
  )
  return (
    <Section title={TEXTS.title} lead={TEXTS.lead} actions={button}>
      <FactPanel rows={factsOf(source as ShownSource, source_away === true)} />
      {(source as ShownSource).way === 'mirror' && <MirrorStatus namespace={namespace} />}
      {check.error !== null && !(check.error instanceof ActProposed) ? (
        <Panel>
          <Fault title={TEXTS.failed} error={check.error} />
        </Panel>
      ) : checked === null ? (
        <Panel>
          <Empty title={TEXTS.unchecked}>{TEXTS.uncheckedNote}</Empty>
        </Panel>
      ) : (
        <CheckResult checked={checked} />
      )}
    </Section>
  )
}

/** Shows how far a mirror has followed its source. */
function MirrorStatus({ namespace }: { readonly namespace: string }) {
  const query = useQuery({
    queryKey: ['registries', 'source', namespace],
    queryFn: () => answerTo(api.GET('/admin/v1/registries/{namespace}/source', { params: { path: { namespace } } })),
    refetchInterval: RELOAD_INTERVAL_MS,
  })
  return (
    <Loaded query={query} lines={5}>
      {(status) => <FactPanel rows={mirrorFacts(status)} />}
    </Loaded>
  )
}

const MIRROR_TONES: Readonly<Record<SourceStatus['state'], Tone>> = {
  waiting: 'warn',
  loading: 'warn',
  following: 'good',
  comparing: 'good',
  failing: 'bad',
}

const mirrorFacts = ({ state, answers, lag_seconds, behind, rejects, compared_at, failure, advice }: SourceStatus) =>
  [
    [
      NAMES.state,
      <span key="state">
        <Badge state={TEXTS.states[state]} tone={MIRROR_TONES[state]} /> {!answers && TEXTS.loadingNote}
      </span>,
    ],
    [NAMES.lag, lag_seconds === null ? null : durationText(lag_seconds * 1_000, LOCALE)],
    [NAMES.behind, numberText(behind, LOCALE)],
    [NAMES.rejects, numberText(rejects, LOCALE)],
    [NAMES.compared, compared_at === null ? null : <Time key="compared" at={compared_at} />],
    [NAMES.failure, failure],
    [NAMES.advice, advice],
  ] as const

/** The facts about a source. Whether the source answers is left out for a mirror, which answers without the source too. */
const factsOf = ({ engine, way = '', url, records = {} }: ShownSource, isAway: boolean) =>
  [
    ...(way === 'mirror'
      ? []
      : [
          [
            NAMES.state,
            <span key="state">
              <Badge state={isAway ? TEXTS.away : TEXTS.answers} tone={isAway ? 'bad' : 'good'} /> {isAway && TEXTS.awayNote}
            </span>,
          ] as const,
        ]),
    [NAMES.way, Object.hasOwn(TEXTS.ways, way) ? TEXTS.ways[way as keyof typeof TEXTS.ways] : way],
    [NAMES.engine, engine],
    [NAMES.address, url?.env === undefined ? TEXTS.inFile(url?.file ?? '') : TEXTS.inVariable(url.env)],
    ...Object.entries(records).map(
      ([type, { from = TEXTS.query, key = '' }]) => [NAMES.table(type), TEXTS.place(from, key)] as const,
    ),
  ] as const

const CheckResult = ({ checked: { database, writes, weak, records } }: { readonly checked: SourceCheck }) => (
  <>
    <FactPanel
      rows={[
        [NAMES.database, database],
        [NAMES.writes, writes.length === 0 ? null : <SourceCheckNoteList key="writes" all={writes} tone="bad" />],
        [NAMES.weak, weak.length === 0 ? null : <SourceCheckNoteList key="weak" all={weak} tone="warn" />],
      ]}
    />
    {records.map((one) => (
      <RecordTypeCheckResult key={one.record_type} records={one} />
    ))}
  </>
)

const SourceCheckNoteList = ({ all, tone }: { readonly all: readonly string[]; readonly tone: 'bad' | 'warn' }) => (
  <ul>
    {all.map((one) => (
      <li key={one}>
        <Badge state={TEXTS.note} tone={tone} /> {one}
      </li>
    ))}
  </ul>
)

const SLOW_SEARCH_COLUMNS: readonly Column<SlowSearch>[] = [
  { title: TITLES.asked, cell: ({ name }) => <code>{name}</code> },
  { title: TITLES.table, cell: ({ table }) => <code>{table}</code>, wideOnly: true },
  {
    title: TITLES.index,
    cell: ({ index }) =>
      index === null ? (
        TEXTS.noIndex
      ) : (
        <>
          <code>{index}</code> <CopyValue value={index} what={TITLES.index} />
        </>
      ),
  },
]

function RecordTypeCheckResult({
  records: { record_type, rows, left_out, report, unfound, slow },
}: {
  readonly records: RecordTypeCheck
}) {
  const problems = [
    ...importProblems({ ...report, paths: report.columns }, TEXTS),
    ...unfound.map(({ name, column, count: values }) => ({ name, reason: TEXTS.unfound(column), count: values, lines: null })),
  ]
  return (
    <>
      <FactPanel
        rows={[
          [NAMES.rows(record_type), numberText(rows, LOCALE)],
          [NAMES.leftOut, left_out === 0 ? TEXTS.none : numberText(left_out, LOCALE)],
        ]}
      />
      <ImportProblems problems={problems} />
      {slow.length > 0 && (
        <PanelTable
          caption={TEXTS.slow}
          columns={SLOW_SEARCH_COLUMNS}
          query={rowsAsQuery(slow)}
          keyOf={({ name, table }) => `${name} ${table}`}
        />
      )}
    </>
  )
}
