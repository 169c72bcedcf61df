/** The accesses to a person's data: a sentence for each participant and month, which opens to show its entries. */
import type { paths } from '../../api/schema.d.ts'
import { Empty } from '../../parts/states.tsx'
import { type Column, DataTable, rowsAsQuery } from '../../parts/table.tsx'
import { numberText } from '../../parts/times.ts'
import { AUDIT_LOG, PERSON_ENTRIES } from '../../texts/audit-log.ts'
import { LOCALE } from '../../texts/common.ts'
import styles from './audit-log.module.css'
import { ENTRY_COLUMNS } from './columns.tsx'

type PersonAuditCall = paths['/admin/v1/accounts/person']['post']
type PersonAudit = PersonAuditCall['responses'][200]['content']['application/json']
type Access = PersonAudit['seen'][number]

interface AccessesByMonthProps {
  readonly caption: string
  readonly accesses: readonly Access[]
  readonly months: PersonAudit['months']['seen']
}

export function AccessesByMonth({ caption, accesses, months }: AccessesByMonthProps) {
  if (months.length === 0) return <Empty title={PERSON_ENTRIES.none} />
  const byId = new Map(accesses.map((access) => [access.id, access]))
  return (
    <ul className={styles.months} aria-label={caption}>
      {months.map(({ month, sender_id, sentence, entries }) => (
        <li key={`${month} ${sender_id}`}>
          <details>
            <summary className={styles.sentence}>{sentence}</summary>
            <DataTable
              caption={sentence}
              columns={COLUMNS}
              query={rowsAsQuery(entries.flatMap((id) => byId.get(id) ?? []))}
              keyOf={({ id }) => id}
            />
          </details>
        </li>
      ))}
    </ul>
  )
}

const COLUMNS: readonly Column<Access>[] = [
  ...ENTRY_COLUMNS,
  {
    title: AUDIT_LOG.columns.shown,
    cell: ({ shown, again, unsent }) => {
      const paths = Object.values(shown).flat()
      return (
        <>
          {paths.length > 0 && (
            <details>
              <summary>{PERSON_ENTRIES.values(numberText(paths.length, LOCALE))}</summary>
              {paths.join(', ')}
            </details>
          )}
          {again && AUDIT_LOG.again}
          {unsent && AUDIT_LOG.unsent}
        </>
      )
    },
  },
  {
    title: AUDIT_LOG.columns.named,
    cell: ({ requested_by, case: named, reason }) =>
      Object.entries({ requested_by, named, reason }).map(([name, text]) => <div key={name}>{text}</div>),
  },
]
