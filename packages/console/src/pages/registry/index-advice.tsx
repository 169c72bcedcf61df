/** A list of columns that are not filled, of missing or invalid indexes, and of indexes that nothing declares. */
import type { Registry } from '../../api/answers.ts'
import { Badge } from '../../parts/badge.tsx'
import { CopyValue } from '../../parts/identifier.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import type { Tone } from '../../parts/tones.ts'
import { REGISTRY } from '../../texts/registries.ts'
import { BuildButton, IndexBuildProgress } from './index-build.tsx'

const { advice: TEXTS } = REGISTRY
const { columns: TITLES } = TEXTS

interface Advice {
  readonly of: string
  readonly record_type: string
  readonly state: keyof typeof TEXTS.states
  readonly why: string
  /** The command that helps; null: there is none, and `note` says what to do. */
  readonly command: string | null
  readonly note?: string
}

const ADVICE_TONES: Readonly<Record<Advice['state'], Tone>> = {
  missing: 'bad',
  invalid: 'bad',
  unfilled: 'bad',
  foreign: 'quiet',
}

const COLUMNS: readonly Column<Advice>[] = [
  { title: TITLES.of, cell: ({ of }) => <code>{of}</code> },
  { title: TITLES.record_type, cell: ({ record_type }) => record_type, wideOnly: true },
  { title: TITLES.state, cell: ({ state }) => <Badge state={TEXTS.states[state]} tone={ADVICE_TONES[state]} />, stays: true },
  { title: TITLES.why, cell: ({ why }) => why },
  {
    title: TITLES.todo,
    cell: ({ command, note }) =>
      command === null ? (
        note
      ) : (
        <>
          <code>{command}</code> <CopyValue value={command} what={TITLES.todo} />
        </>
      ),
  },
]

export function IndexAdvice({ registry }: { readonly registry: Registry }) {
  const { namespace, indexes } = registry
  const isNeeded = indexes.some(({ missing, unfilled }) => missing.length + unfilled.length > 0)
  return (
    <Section title={TEXTS.title} lead={TEXTS.lead} actions={<BuildButton namespace={namespace} isNeeded={isNeeded} />}>
      <IndexBuildProgress namespace={namespace} />
      <PanelTable
        caption={TEXTS.caption}
        columns={COLUMNS}
        query={rowsAsQuery(adviceOf(registry))}
        keyOf={({ of, record_type, state }) => `${record_type} ${of} ${state}`}
        empty={<Empty title={TEXTS.fine}>{TEXTS.fineNote}</Empty>}
      />
    </Section>
  )
}

function adviceOf({ indexes, namespace }: Registry): Advice[] {
  const command = TEXTS.apply(namespace)
  return indexes.flatMap(({ record_type, missing, unfilled, foreign }): Advice[] => [
    ...unfilled.map((of) => ({ of, record_type, state: 'unfilled', why: TEXTS.unfilled, command }) as const),
    ...missing.map(({ of, state }) => ({ of, record_type, state, why: TEXTS[state], command })),
    ...foreign.map((of) => ({ of, record_type, state: 'foreign' as const, why: TEXTS.foreign, command: null, note: TEXTS.look })),
  ])
}
