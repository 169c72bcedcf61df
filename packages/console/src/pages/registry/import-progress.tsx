/** The import that has begun and not ended: how far it is, and what it has rejected. */
import { Badge } from '../../parts/badge.tsx'
import { Facts, Panel, Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, DataTable, fixed } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { count } from '../../parts/times.ts'
import { LOCALE } from '../../texts/common.ts'
import { REGISTRY } from '../../texts/registries.ts'
import type { Registry } from './page.tsx'

const { import: TEXTS } = REGISTRY
const { facts: NAMES, columns: TITLES } = TEXTS

type Import = NonNullable<Registry['import']>

const COLUMNS: readonly Column<Import['rejections'][number]>[] = [
  { title: TITLES.reason, cell: ({ reason }) => reason },
  { title: TITLES.count, cell: (row) => count(row.count, LOCALE), align: 'end' },
]

export const ImportProgress = ({ running }: { readonly running: Import | null }) => (
  <Section title={TEXTS.title} lead={TEXTS.lead}>
    {running === null ? (
      <Panel>
        <Empty title={TEXTS.none}>{TEXTS.noneNote}</Empty>
      </Panel>
    ) : (
      <>
        <Panel padded>
          <Facts rows={factsOf(running)} />
        </Panel>
        <Panel>
          <DataTable
            caption={TEXTS.caption}
            columns={COLUMNS}
            query={fixed(running.rejections)}
            keyOf={({ reason }) => reason}
            empty={<Empty title={TEXTS.noneRejected} />}
          />
        </Panel>
      </>
    )}
  </Section>
)

function factsOf({ running, updated_at, line, entries, written, inserted, rejected }: Import) {
  return [
    [
      NAMES.state,
      running ? (
        <Badge key="state" state="pending" label={TEXTS.running} />
      ) : (
        <span key="state">
          <Badge state="held" label={TEXTS.interrupted} /> {TEXTS.interruptedNote}
        </span>
      ),
    ],
    [NAMES.updated, <Time key="updated" at={updated_at} relative />],
    [NAMES.line, count(line, LOCALE)],
    [NAMES.entries, count(entries, LOCALE)],
    [NAMES.written, count(written, LOCALE)],
    [NAMES.inserted, count(inserted, LOCALE)],
    [NAMES.rejected, count(rejected, LOCALE)],
  ] as const
}
