/** Makes texts of audit entries, for people. */
import type { listAuditEntries, listEmergencies } from '@rollcall/admin/audit/list'
import type { PersonAudit } from '@rollcall/admin/audit/person-accesses'
import { countWithNoun, tableText } from './output.ts'

type AuditEntries = Awaited<ReturnType<typeof listAuditEntries>>
type EmergencyAccesses = Awaited<ReturnType<typeof listEmergencies>>

export const ENTRY_COLUMNS = ['at', 'who', 'registry', 'operation', 'purpose', 'basis', 'outcome', 'shown']

/** Makes table rows of audit entries: the values of ENTRY_COLUMNS, with the id and the kind of the entry. */
export const entryRows = (entries: AuditEntries) =>
  entries.map((entry) => ({
    id: entry.id,
    kind: entry.kind,
    at: entry.at,
    who: actorText(entry),
    registry: entry.registry,
    operation: entry.operation ?? entry.note,
    purpose: entry.purpose,
    basis: entry.emergency ? 'emergency' : entry.basis,
    outcome: Object.entries(entry.outcomes)
      .map(([code, count]) => `${count * entry.count} ${code}`)
      .join(', '),
    shown: disclosedPathsText(entry),
  }))

const actorText = ({ participant, operator, approved_by }: AuditEntries[number]): string | null =>
  participant ?? (operator === null ? null : `operator ${operator}${approved_by === null ? '' : `; approved by ${approved_by}`}`)

const disclosedPathsText = ({ shown }: AuditEntries[number]): string | null => {
  const paths = [...new Set(Object.values(shown).flat())].join(', ')
  return paths === '' ? null : paths
}

/**
 * Makes three tables about one person: who has seen data of the person, who has written such data, and who has asked about the
 * person and seen nothing. The first line says by which types of identifiers the audit log was searched.
 */
export function personAuditText({ identifier_types, seen, written, asked }: PersonAudit): string {
  const part = (title: string, accesses: PersonAudit['seen']): string =>
    `${title}: ${accesses.length}${accesses.length === 0 ? '' : `\n${tableText([...ENTRY_COLUMNS, ...listUsedOptionalColumns(accesses)], accessRows(accesses), '')}`}`
  return [
    `looked for by identifiers of the types ${identifier_types.join(', ')}`,
    part('Has seen data', seen),
    part('Has written data', written),
    part('Has asked, and seen nothing', asked),
  ].join('\n\n')
}

const ACCESS_DETAIL_COLUMNS = ['requested_by', 'case', 'reason'] as const

const ACCESS_FLAG_COLUMNS = ['again', 'unsent'] as const

/** The names of the optional columns that have a value for at least one access. */
const listUsedOptionalColumns = (accesses: PersonAudit['seen']): readonly string[] => [
  ...ACCESS_DETAIL_COLUMNS.filter((name) => accesses.some((access) => access[name] !== undefined)),
  ...ACCESS_FLAG_COLUMNS.filter((name) => accesses.some((access) => access[name])),
]

function accessRows(accesses: PersonAudit['seen']) {
  const described = entryRows(accesses)
  return accesses.map((access, at) => ({
    ...described[at],
    requested_by: access.requested_by ?? null,
    case: access.case ?? null,
    reason: access.reason ?? null,
    again: access.again,
    unsent: access.unsent,
  }))
}

export function emergencyText(emergencies: EmergencyAccesses, reviewed: boolean): string {
  if (emergencies.length === 0) return reviewed ? 'no emergency was reviewed' : 'no emergency waits for a review'
  return emergencies
    .map((one) => {
      const lines = [
        `${one.id}  ${one.at}  ${one.participant} in ${one.registry}, ${countWithNoun(one.records, 'record')}`,
        `  reason: ${one.reason ?? 'not readable'}`,
        ...(one.requested_by === undefined ? [] : [`  requested by: ${one.requested_by}`]),
        ...(one.case === undefined ? [] : [`  case: ${one.case}`]),
        ...one.reviews.map(({ at, reviewed_by, note }) => `  reviewed ${at} by ${reviewed_by}: ${note}`),
      ]
      return lines.join('\n')
    })
    .join('\n')
}
