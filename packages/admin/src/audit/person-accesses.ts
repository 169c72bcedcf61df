/** Lists who has seen, asked about, or written the data of a person, from the audit entries of all registries. */

import { pseudonymOf } from '@rollcall/audit/persons'
import {
  type EntryOfPerson,
  findEntriesOfAnswersShownAgain,
  findEntriesOfPseudonyms,
  findUnsentMessages,
  type LoggedEntry,
  type Period,
} from '@rollcall/audit/store/read-entries'
import type { PersonRole } from '@rollcall/core/model/audit-entry'
import { listParticipants } from '@rollcall/participants/store/participants'
import Type from 'typebox'
import { defineAct, type WriteActEntry } from '../act.ts'
import type { HasVault } from '../deps.ts'
import { closed, flag, instant, markPersonal, text } from '../members.ts'
import { findIdentifiersOfPerson, type KnownIdentifier } from '../persons/known-person.ts'
import { AccessesOfMonth, accessesByMonth } from './accesses-by-month.ts'
import { AUDIT_ENTRY_MEMBERS, auditKeysOf, CONFIDENTIAL_MEMBERS, confidentialFacts, entryFacts, readPeriod } from './facts.ts'

const PersonDataAccess = closed({
  ...AUDIT_ENTRY_MEMBERS,
  ...CONFIDENTIAL_MEMBERS,
  identifier_types: Type.Array(Type.String(), { description: 'Types of the identifiers by which it is about the person.' }),
  again: flag('Whether it gave again what an earlier answer had shown.'),
  unsent: flag('Whether it was not sent, as a later entry says: nothing of it left.'),
})

/** Lists the accesses to a person's data, including those that are logged under other identifiers of the person. */
export const auditPerson = defineAct(
  {
    name: 'audit person',
    approval: 'never',
    entry: 'within',
    input: closed({
      type: text('Type of an identifier, such as UIN.'),
      value: markPersonal(text('Its value.')),
      from: Type.Optional(instant('Only what was at this time or later.')),
      to: Type.Optional(instant('Only what was before this time.')),
      confidential: Type.Optional(flag('Also what is stored encrypted: users, cases and reasons that participants named.')),
    }),
    result: closed({
      identifier_types: Type.Array(Type.String(), {
        description: 'Types of the identifiers by which the audit log was searched.',
      }),
      seen: Type.Array(PersonDataAccess, { description: 'Data of the person left. The oldest first.' }),
      written: Type.Array(PersonDataAccess, { description: 'Data was written about the person.' }),
      asked: Type.Array(PersonDataAccess, { description: 'The person was asked about, and nothing of the person was shown.' }),
      months: closed(
        { seen: Type.Array(AccessesOfMonth), written: Type.Array(AccessesOfMonth), asked: Type.Array(AccessesOfMonth) },
        { description: 'The same by institution and month, each as one sentence, the newest first.' },
      ),
    }),
  },
  (deps: HasVault, asked, enter) => findPersonDataAccesses(deps, asked, enter),
)

interface PersonDataAccessesInput extends Partial<Record<'from' | 'to', string | undefined>> {
  readonly type: string
  readonly value: string
  readonly confidential?: boolean | undefined
}

/** Writes the audit entry that names the person, then finds the accesses to the person's data. */
export async function findPersonDataAccesses(
  deps: HasVault,
  { type, value, from, to, confidential = false }: PersonDataAccessesInput,
  enter: WriteActEntry,
) {
  const { db } = deps
  const period = readPeriod({ from, to })
  const known = await findIdentifiersOfPerson(db, { type, value })
  await enter({ persons: [{ role: 'asked', identifiers: known }] })
  const keys = await auditKeysOf(deps)
  const byPseudonym = new Map(known.map((one) => [pseudonymOf(keys.pseudonyms, one).toString('hex'), one] as const))
  const pseudonyms = [...byPseudonym.keys()].map((pseudonym) => Buffer.from(pseudonym, 'hex'))
  // Entries from before the period are read too: a stored answer may have been given again within the period.
  const found = (await findEntriesOfPseudonyms(db, pseudonyms, { to: period.to })).flatMap((logged) => {
    const meaning = rolesInEntry(logged, byPseudonym)
    return meaning.roles.size === 0 ? [] : [{ logged, ...meaning, again: false }]
  })
  const repeated = await findStoredAnswerAccesses(deps, found, period)
  const { from: start } = period
  const inPeriod = found.filter(({ logged }) => start === undefined || logged.at >= start)
  const accesses = [...inPeriod, ...repeated].toSorted((one, other) => +one.logged.at - +other.logged.at)
  const unsent = await findUnsentMessages(
    db,
    accesses.flatMap(({ logged: { entry } }) => entry.reply?.message_id ?? []),
  )
  const withRole = (role: PersonRole) =>
    accesses
      .filter(({ roles }) => ENTRY_ROLE_ORDER.find((one) => roles.has(one)) === role)
      .map(({ logged, types, again }) => {
        return {
          ...entryFacts(logged),
          ...(confidential && confidentialFacts(keys, logged)),
          identifier_types: [...types].sort(),
          again,
          unsent: unsent.has(logged.entry.reply?.message_id ?? ''),
        }
      })
  const [seen, written, asked] = [withRole('seen'), withRole('written'), withRole('asked')]
  const names = new Map((await listParticipants(db)).map(({ sender_id, name }) => [sender_id, name]))
  return {
    identifier_types: [...new Set(known.map((one) => one.type))].sort(),
    seen,
    written,
    asked,
    months: {
      seen: accessesByMonth(seen, names),
      written: accessesByMonth(written, names),
      asked: accessesByMonth(asked, names),
    },
  }
}

/** The accesses to a person's data, as `auditPerson` returns them. */
export type PersonAudit = Awaited<ReturnType<typeof auditPerson>>

/** The roles of a person in an audit entry. Where an entry has several, the first of this list applies. */
const ENTRY_ROLE_ORDER: readonly PersonRole[] = ['seen', 'written', 'asked']

interface FoundAccess {
  readonly logged: LoggedEntry
  readonly roles: ReadonlySet<PersonRole>
  /** The types of the identifiers by which the entry was found. */
  readonly types: ReadonlySet<string>
  readonly again: boolean
}

function rolesInEntry(
  { found, entry }: EntryOfPerson,
  byPseudonym: ReadonlyMap<string, KnownIdentifier>,
): Pick<FoundAccess, 'roles' | 'types'> {
  const roles = new Set<PersonRole>()
  const types = new Set<string>()
  for (const { pseudonym, role } of found) {
    const known = byPseudonym.get(pseudonym.toString('hex'))
    if (known === undefined || !isIdentifierKnownIn(known, entry.registry)) continue
    roles.add(role)
    types.add(known.type)
  }
  return { roles, types }
}

const isIdentifierKnownIn = ({ registries }: KnownIdentifier, registry: string | null): boolean =>
  registries === null || (registry !== null && registries.has(registry))

/**
 * Finds the entries which say that a stored answer about the person was given again, or opened by an operator. Such an entry
 * names the exchange of the answer, and not the person.
 */
async function findStoredAnswerAccesses(
  { db }: Pick<HasVault, 'db'>,
  accesses: readonly FoundAccess[],
  period: Period,
): Promise<readonly FoundAccess[]> {
  const shown = accesses.filter(({ roles }) => roles.has('seen'))
  const types = new Map(shown.flatMap(({ logged: { entry }, types }) => [[entry.correlation_id, types] as const]))
  const exchanges = [...types.keys()].filter((id) => id !== null)
  const known = new Set(accesses.map(({ logged }) => entryFacts(logged).id))
  return (await findEntriesOfAnswersShownAgain(db, exchanges, period))
    .filter((logged) => !known.has(entryFacts(logged).id))
    .map((logged) => {
      const of = logged.entry.repeats?.find((id) => types.has(id))
      return {
        logged,
        roles: new Set<PersonRole>(['seen']),
        types: (of === undefined ? undefined : types.get(of)) ?? new Set<string>(),
        again: true,
      }
    })
}
