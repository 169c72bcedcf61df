/** Shows the meaning of the grant in force, attribute by attribute. */
import type { ExplainedGrant } from '../../api/answers.ts'
import { Badge } from '../../parts/badge.tsx'
import { FactPanel, Section } from '../../parts/page.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { COMMON } from '../../texts/common.ts'
import { GRANT, GRANTS } from '../../texts/grants.ts'
import { draftText } from './draft.ts'

const { inForce: TEXTS } = GRANT
const { columns: TITLES, facts: NAMES } = TEXTS

interface RightsRow {
  readonly name: string
  readonly record_type: string
  readonly asks: boolean
  readonly sees: boolean
}

const YesNoBadge = ({ may }: { readonly may: boolean }) => (
  <Badge state={may ? TEXTS.yes : TEXTS.no} tone={may ? 'good' : 'quiet'} />
)

const RIGHTS_COLUMNS: readonly Column<RightsRow>[] = [
  { title: TITLES.attribute, cell: ({ name }) => <code>{name}</code> },
  { title: TITLES.record_type, cell: ({ record_type }) => record_type, wideOnly: true },
  { title: TITLES.asks, cell: ({ asks }) => <YesNoBadge may={asks} /> },
  { title: TITLES.sees, cell: ({ sees }) => <YesNoBadge may={sees} /> },
]

export const GrantInForce = ({ grant }: { readonly grant: ExplainedGrant }) => (
  <Section title={TEXTS.title} lead={TEXTS.lead}>
    <FactPanel rows={factsOf(grant)} />
    <PanelTable
      caption={TEXTS.caption}
      columns={RIGHTS_COLUMNS}
      query={rowsAsQuery(rightsRows(grant))}
      keyOf={({ record_type, name }) => `${record_type} ${name}`}
    />
  </Section>
)

function factsOf({ terms, identifier_types, sees_everything, valid_from, valid_until }: ExplainedGrant) {
  return [
    [NAMES.operations, draftText(terms.operations)],
    [NAMES.identifiers, identifier_types.join(', ')],
    [NAMES.basis, terms.basis],
    [NAMES.whole, sees_everything ? COMMON.yes : COMMON.no],
    [NAMES.from, <Time key="from" at={valid_from} />],
    [NAMES.until, valid_until === null ? GRANTS.noEnd : <Time key="until" at={valid_until} relative />],
    [NAMES.legal, terms.legal_reference],
    [NAMES.responsible, terms.responsible],
  ] as const
}

function rightsRows({ asks, asks_not, sees }: ExplainedGrant): RightsRow[] {
  return Object.entries(asks).flatMap(([record_type, asked]) =>
    [...asked, ...(asks_not[record_type] ?? [])].map((name) => ({
      name,
      record_type,
      asks: asked.includes(name),
      sees: sees[record_type]?.includes(name) === true,
    })),
  )
}
