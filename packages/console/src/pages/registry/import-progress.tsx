/** Shows the import that has begun and not ended, and the report of the last import that ended. */

import type { ReactNode } from 'react'
import type { Registry } from '../../api/answers.ts'
import { Badge } from '../../parts/badge.tsx'
import { FactPanel, Panel, Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import { LOCALE } from '../../texts/common.ts'
import { REGISTRY } from '../../texts/registries.ts'

const { import: TEXTS } = REGISTRY
const { facts: NAMES, columns: TITLES } = TEXTS

type BegunImport = NonNullable<Registry['import']>
type EndedImport = NonNullable<Registry['last_import']>

interface Problem {
  /** The attribute or path that has the problem; null: a whole entry of the import file has it. */
  readonly name: string | null
  readonly reason: string
  readonly count: number
  readonly lines: readonly number[] | null
}

const PROBLEM_COLUMNS: readonly Column<Problem>[] = [
  { title: TITLES.reason, cell: ({ reason }) => reason },
  { title: TITLES.name, cell: ({ name }) => (name === null ? TEXTS.whole : <code>{name}</code>) },
  { title: TITLES.count, cell: (row) => numberText(row.count, LOCALE), align: 'end' },
  { title: TITLES.lines, cell: ({ lines }) => lines?.map((line) => numberText(line, LOCALE)).join(', '), wideOnly: true },
]

export function ImportProgress({ registry }: { readonly registry: Registry }) {
  const { import: begun, last_import: ended } = registry
  return (
    <Section title={TEXTS.title} lead={TEXTS.lead}>
      {begun !== null && <ImportDetails facts={factsOfBegun(begun)} problems={wholeEntryProblems(begun.rejections)} />}
      {ended !== null && <ImportDetails facts={factsOfEnded(ended)} problems={importProblems(ended)} />}
      {begun === null && ended === null && (
        <Panel>
          <Empty title={TEXTS.none}>
            {TEXTS.noneNote} <code>{TEXTS.command(registry.namespace)}</code>
          </Empty>
        </Panel>
      )}
    </Section>
  )
}

interface ImportDetailsProps {
  readonly facts: readonly (readonly [name: string, value: ReactNode])[]
  readonly problems: readonly Problem[]
}

const ImportDetails = ({ facts, problems }: ImportDetailsProps) => (
  <>
    <FactPanel rows={facts} />
    <ImportProblems problems={problems} />
  </>
)

/** A table of the problems of an import, such as values that were not understood; nothing when there are none. */
export const ImportProblems = ({ problems }: Pick<ImportDetailsProps, 'problems'>) =>
  problems.length > 0 && (
    <PanelTable
      caption={TEXTS.caption}
      columns={PROBLEM_COLUMNS}
      query={rowsAsQuery(problems)}
      keyOf={({ name, reason }) => `${name} ${reason}`}
    />
  )

const wholeEntryProblems = (rows: readonly (Omit<Problem, 'name' | 'lines'> & Partial<Problem>)[]): Problem[] =>
  rows.map(({ reason, count, lines = null }) => ({ name: null, reason, count, lines }))

interface ValueProblemCounts {
  readonly not_understood: number
  readonly rule: string | null
  readonly lines: readonly number[]
  readonly unlisted: number
  readonly unlisted_lines: readonly number[]
  readonly after_today: number
  readonly after_today_lines: readonly number[]
}

/** The texts for codes that the code list of their attribute lacks, and for dates after the day of the import. */
interface ValueProblemTexts {
  readonly unlisted: string
  readonly afterToday: string
}

const valueProblems = (name: string, row: ValueProblemCounts, odd: ValueProblemTexts): Problem[] => [
  ...(row.not_understood > 0
    ? [{ name, reason: row.rule ?? TEXTS.notUnderstood, count: row.not_understood, lines: row.lines }]
    : []),
  ...(row.unlisted > 0 ? [{ name, reason: odd.unlisted, count: row.unlisted, lines: row.unlisted_lines }] : []),
  ...(row.after_today > 0 ? [{ name, reason: odd.afterToday, count: row.after_today, lines: row.after_today_lines }] : []),
]

/**
 * Lists the problems of an import. Values that were not understood are listed under their path or column; if the import counted
 * none by path, under their attribute. Unlisted codes and dates after the import are always listed under their attribute.
 */
export function importProblems(
  { rejections, repeated, attributes, paths }: Pick<EndedImport, 'rejections' | 'repeated' | 'attributes' | 'paths'>,
  odd: ValueProblemTexts = TEXTS,
): Problem[] {
  const inPaths = paths.flatMap((row) => valueProblems(row.path, { ...row, unlisted: 0, after_today: 0 }, odd))
  const others = attributes.flatMap((row) =>
    valueProblems(row.name, inPaths.length > 0 ? { ...row, not_understood: 0 } : row, odd),
  )
  const replaced = repeated.count > 0 ? [{ reason: TEXTS.repeated, ...repeated }] : []
  return [...wholeEntryProblems([...rejections, ...replaced]), ...inPaths, ...others]
}

const factsOfCounts = ({ entries, written, inserted, rejected }: BegunImport | EndedImport) =>
  [
    [NAMES.entries, numberText(entries, LOCALE)],
    [NAMES.written, numberText(written, LOCALE)],
    [NAMES.inserted, numberText(inserted, LOCALE)],
    [NAMES.rejected, numberText(rejected, LOCALE)],
  ] as const

const factsOfEnded = (ended: EndedImport) =>
  [
    [NAMES.state, <Badge key="state" state={TEXTS.ended} tone={ended.rejected > 0 ? 'warn' : 'good'} />],
    [NAMES.ended, <Time key="ended" at={ended.ended_at} relative />],
    ...factsOfCounts(ended),
    [NAMES.kept, ended.kept > 0 ? numberText(ended.kept, LOCALE) : null],
  ] as const

const factsOfBegun = (begun: BegunImport) =>
  [
    [
      NAMES.state,
      begun.running ? (
        <Badge key="state" state="pending" label={TEXTS.running} />
      ) : (
        <span key="state">
          <Badge state="held" label={TEXTS.interrupted} /> {TEXTS.interruptedNote}
        </span>
      ),
    ],
    [NAMES.updated, <Time key="updated" at={begun.updated_at} relative />],
    [NAMES.line, numberText(begun.line, LOCALE)],
    ...factsOfCounts(begun),
  ] as const
