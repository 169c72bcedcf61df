/** A list of grants, keys, tokens and subscriptions that end within 30 days, the earliest first. */
import type { Overview } from '../../api/answers.ts'
import { Section } from '../../parts/page.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { OVERVIEW } from '../../texts/overview.ts'

const TEXTS = OVERVIEW.ends
type ComingEnd = Overview['expiring'][number]

const COLUMNS: readonly Column<ComingEnd>[] = [
  { title: TEXTS.what, cell: ({ what }) => what },
  { title: TEXTS.who, cell: ({ name }) => name },
  { title: TEXTS.where, cell: ({ of }) => of, wideOnly: true },
  { title: TEXTS.when, cell: ({ at }) => <Time at={at} relative /> },
]

/** For each sort of thing that ends, the address of the page that shows it. */
const PAGE_ADDRESS_BY_END: Readonly<Record<ComingEnd['what'], (end: ComingEnd) => string>> = {
  grant: ({ name }) => `/participants/${encodeURIComponent(name)}`,
  key: ({ name }) => `/participants/${encodeURIComponent(name)}`,
  'operator token': () => '/settings',
  subscription: ({ id }) => `/subscriptions/${encodeURIComponent(id ?? '')}`,
}

/** The address of the page that shows a grant, key, operator token or subscription that ends soon. */
export const comingEndPageAddress = (end: ComingEnd): string => PAGE_ADDRESS_BY_END[end.what](end)

export const ComingEndsTable = ({ rows }: { readonly rows: readonly ComingEnd[] }) => (
  <div id="ends">
    <Section title={TEXTS.title}>
      <PanelTable
        caption={TEXTS.caption}
        columns={COLUMNS}
        query={rowsAsQuery(rows)}
        keyOf={({ what, name, of, id, at }) => [what, name, of, id, at].join(' ')}
        linkOf={comingEndPageAddress}
      />
    </Section>
  </div>
)
