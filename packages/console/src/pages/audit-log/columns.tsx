/** Columns that all audit entries have. */
import { Badge } from '../../parts/badge.tsx'
import type { Column } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import { AUDIT_LOG } from '../../texts/audit-log.ts'
import { LOCALE } from '../../texts/common.ts'

interface Entry {
  readonly at: string
  readonly kind: string
  readonly participant: string | null
  readonly operator: string | null
  readonly approved_by: string | null
  readonly registry: string | null
  readonly operation: string | null
  readonly note: string | null
  readonly purpose: string | null
  readonly basis: string | null
  readonly records: number
}

const { columns: TITLES } = AUDIT_LOG

/** The first columns of the tables of audit entries. */
export const ENTRY_COLUMNS: readonly Column<Entry>[] = [
  { title: TITLES.at, cell: ({ at }) => <Time at={at} seconds /> },
  { title: TITLES.kind, cell: ({ kind }) => <Badge state={kind} tone={kind === 'refusal' ? 'warn' : 'quiet'} /> },
  {
    title: TITLES.who,
    cell: ({ participant, operator, approved_by }) =>
      approved_by === null ? (participant ?? operator ?? AUDIT_LOG.nobody) : AUDIT_LOG.approved(operator, approved_by),
  },
  { title: TITLES.registry, cell: ({ registry }) => registry, wideOnly: true },
  { title: TITLES.what, cell: ({ operation, note }) => operation ?? note },
  { title: TITLES.purpose, cell: ({ purpose, basis }) => purpose ?? basis, wideOnly: true },
  { title: TITLES.records, cell: ({ records }) => numberText(records, LOCALE), align: 'end' },
]
