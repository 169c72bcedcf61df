/** Entries of the accounts in words, for people. */
import type { listAccounts, listEmergencies } from '@rollcall/admin/accounts/list'
import type { PersonAudit } from '@rollcall/admin/accounts/person-looks'
import { counted, table } from './output.ts'

type Accounts = Awaited<ReturnType<typeof listAccounts>>
type Emergencies = Awaited<ReturnType<typeof listEmergencies>>

export const COLUMNS = ['at', 'who', 'registry', 'operation', 'purpose', 'basis', 'outcome', 'shown']

/** Rows of a table. */
export const accountRows = (accounts: Accounts) =>
  accounts.map((account) => ({
    id: account.id,
    kind: account.kind,
    at: account.at,
    who: who(account),
    registry: account.registry,
    operation: account.operation ?? account.note,
    purpose: account.purpose,
    basis: account.emergency ? 'emergency' : account.basis,
    outcome: Object.entries(account.outcomes)
      .map(([code, count]) => `${count * account.count} ${code}`)
      .join(', '),
    shown: shownText(account),
  }))

const who = ({ participant, operator, approved_by }: Accounts[number]): string | null =>
  participant ??
  (operator === null ? null : `operator ${operator}${approved_by === null ? '' : `; approved by ${approved_by}`}`)

const shownText = ({ shown }: Accounts[number]): string | null => {
  const paths = [...new Set(Object.values(shown).flat())].join(', ')
  return paths === '' ? null : paths
}

/** Lists participants that have seen data before those that have only asked. */
export function personText({ identifier_types, seen, written, asked }: PersonAudit): string {
  const part = (title: string, looks: PersonAudit['seen']): string =>
    `${title}: ${looks.length}${looks.length === 0 ? '' : `\n${table([...COLUMNS, ...more(looks)], rows(looks), '')}`}`
  return [
    `looked for by identifiers of the types ${identifier_types.join(', ')}`,
    part('Has seen data', seen),
    part('Has written data', written),
    part('Has asked, and seen nothing', asked),
  ].join('\n\n')
}

const DETAILS = ['requested_by', 'case', 'reason'] as const

const FLAGS = ['again', 'unsent'] as const

/** Columns of what only some have. */
const more = (looks: PersonAudit['seen']): readonly string[] => [
  ...DETAILS.filter((name) => looks.some((look) => look[name] !== undefined)),
  ...FLAGS.filter((name) => looks.some((look) => look[name])),
]

function rows(looks: PersonAudit['seen']) {
  const described = accountRows(looks)
  return looks.map((look, at) => ({
    ...described[at],
    requested_by: look.requested_by ?? null,
    case: look.case ?? null,
    reason: look.reason ?? null,
    again: look.again,
    unsent: look.unsent,
  }))
}

export function emergencyText(emergencies: Emergencies, reviewed: boolean): string {
  if (emergencies.length === 0) return reviewed ? 'no emergency was reviewed' : 'no emergency waits for a review'
  return emergencies
    .map((one) => {
      const lines = [
        `${one.id}  ${one.at}  ${one.participant} in ${one.registry}, ${counted(one.records, 'record')}`,
        `  reason: ${one.reason ?? 'not readable'}`,
        ...(one.requested_by === undefined ? [] : [`  requested by: ${one.requested_by}`]),
        ...(one.case === undefined ? [] : [`  case: ${one.case}`]),
        ...one.reviews.map(({ at, reviewed_by, note }) => `  reviewed ${at} by ${reviewed_by}: ${note}`),
      ]
      return lines.join('\n')
    })
    .join('\n')
}
