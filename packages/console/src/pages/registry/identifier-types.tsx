/** By what persons and records are named. */
import { Panel, Section } from '../../parts/page.tsx'
import { type Column, DataTable, fixed } from '../../parts/table.tsx'
import { COMMON } from '../../texts/common.ts'
import { REGISTRY } from '../../texts/registries.ts'
import type { Registry } from './page.tsx'

type IdentifierType = Registry['identifier_types'][number]

const { identifiers: TEXTS, attributes } = REGISTRY
const { columns: TITLES } = TEXTS

const COLUMNS: readonly Column<IdentifierType>[] = [
  { title: TITLES.name, cell: ({ name }) => <code>{name}</code> },
  { title: TITLES.compared, cell: ({ compared_as }) => compared_as },
  {
    title: TITLES.patterns,
    cell: ({ patterns }) => (patterns.length === 0 ? TEXTS.any : <code>{patterns.join(', ')}</code>),
  },
  { title: TITLES.primary, cell: ({ primary }) => primary.join(', ') || COMMON.none },
  { title: TITLES.aliases, cell: ({ aliases }) => aliases.join(', '), wideOnly: true },
  { title: TITLES.from, cell: ({ from }) => attributes.of[from], wideOnly: true },
]

export const IdentifierTypes = ({ registry }: { readonly registry: Registry }) => (
  <Section title={TEXTS.title} lead={TEXTS.lead}>
    <Panel>
      <DataTable
        caption={TEXTS.caption}
        columns={COLUMNS}
        query={fixed(registry.identifier_types)}
        keyOf={({ name }) => name}
      />
    </Panel>
  </Section>
)
