/** Lists who has seen, asked about, or written the data of a person, from the accounts of all registries. */

import { pseudonymOf } from '@rollcall/audit/persons'
import {
  type AccountOfPerson,
  accountsOfPseudonyms,
  accountsThatRepeat,
  type Period,
  type ReadAccount,
  unsentMessages,
} from '@rollcall/audit/store/read-accounts'
import type { PersonRole } from '@rollcall/core/model/account'
import { listParticipants } from '@rollcall/participants/store/participants'
import Type from 'typebox'
import { act, type Enter } from '../act.ts'
import { closed, flag, instant, personalData, text } from '../members.ts'
import type { HasVault } from '../needs.ts'
import { type KnownIdentifier, knownIdentifiers } from '../persons/known-person.ts'
import { ACCOUNT, accountFacts, accountKeysOf, CONFIDENTIAL, confidentialFacts, periodOf } from './facts.ts'
import { LooksOfMonth, looksByMonth } from './looks-by-month.ts'

const Look = closed({
  ...ACCOUNT,
  ...CONFIDENTIAL,
  identifier_types: Type.Array(Type.String(), {
    description: 'Types of the identifiers by which it is about the person.',
  }),
  again: flag('Whether it gave again what an earlier answer had shown.'),
  unsent: flag('Whether it was not sent, as a later entry says: nothing of it left.'),
})

/** The types may be those of the person's other identifiers. */
export const auditPerson = act(
  {
    name: 'audit person',
    approval: 'never',
    entry: 'within',
    input: closed({
      type: text('Type of an identifier, such as UIN.'),
      value: personalData(text('Its value.')),
      from: Type.Optional(instant('Only what was at this time or later.')),
      to: Type.Optional(instant('Only what was before this time.')),
      confidential: Type.Optional(
        flag('Also what was accounted encrypted: users, cases and reasons that participants named.'),
      ),
    }),
    result: closed({
      identifier_types: Type.Array(Type.String(), {
        description: 'Types of the identifiers by which the accounts were looked through.',
      }),
      seen: Type.Array(Look, { description: 'Data of the person left. The oldest first.' }),
      written: Type.Array(Look, { description: 'Data was written about the person.' }),
      asked: Type.Array(Look, { description: 'The person was asked about, and nothing of the person was shown.' }),
      months: closed(
        { seen: Type.Array(LooksOfMonth), written: Type.Array(LooksOfMonth), asked: Type.Array(LooksOfMonth) },
        { description: 'The same by institution and month, each as one sentence, the newest first.' },
      ),
    }),
  },
  (needs: HasVault, asked, enter) => auditOf(needs, asked, enter),
)

interface AskedPerson extends Partial<Record<'from' | 'to', string | undefined>> {
  readonly type: string
  readonly value: string
  readonly confidential?: boolean | undefined
}

/** Enters the person who is asked about before anything is read. */
export async function auditOf(
  needs: HasVault,
  { type, value, from, to, confidential = false }: AskedPerson,
  enter: Enter,
) {
  const { db } = needs
  const known = await knownIdentifiers(db, { type, value })
  await enter({ persons: [{ role: 'asked', identifiers: known }] })
  const keys = await accountKeysOf(needs)
  const period = periodOf({ from, to })
  const byPseudonym = new Map(known.map((one) => [pseudonymOf(keys.pseudonyms, one).toString('hex'), one] as const))
  const pseudonyms = [...byPseudonym.keys()].map((pseudonym) => Buffer.from(pseudonym, 'hex'))
  // Entries from before the period are read too: an answer of that time may have been given again within it.
  const found = (await accountsOfPseudonyms(db, pseudonyms, { to: period.to })).flatMap((account) => {
    const looks = meant(account, byPseudonym)
    return looks.roles.size === 0 ? [] : [{ account, ...looks, again: false }]
  })
  const repeated = await repeatsOf(needs, found, period)
  const { from: start } = period
  const within = found.filter(({ account }) => start === undefined || account.at >= start)
  const looks = [...within, ...repeated].toSorted((one, other) => +one.account.at - +other.account.at)
  const unsent = await unsentMessages(
    db,
    looks.flatMap(({ account: { entry } }) => entry.reply?.message_id ?? []),
  )
  const withRole = (role: PersonRole) =>
    looks
      .filter(({ roles }) => ROLES.find((one) => roles.has(one)) === role)
      .map(({ account, types, again }) => {
        return {
          ...accountFacts(account),
          ...(confidential && confidentialFacts(keys, account)),
          identifier_types: [...types].sort(),
          again,
          unsent: unsent.has(account.entry.reply?.message_id ?? ''),
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
      seen: looksByMonth(seen, names),
      written: looksByMonth(written, names),
      asked: looksByMonth(asked, names),
    },
  }
}

export type PersonAudit = Awaited<ReturnType<typeof auditPerson>>

/** When an entry has several roles of a person, the first one of these applies. */
const ROLES: readonly PersonRole[] = ['seen', 'written', 'asked']

interface FoundLook {
  readonly account: ReadAccount
  readonly roles: ReadonlySet<PersonRole>
  /** The types of the identifiers that found the entry. */
  readonly types: ReadonlySet<string>
  readonly again: boolean
}

function meant(
  { found, entry }: AccountOfPerson,
  byPseudonym: ReadonlyMap<string, KnownIdentifier>,
): Pick<FoundLook, 'roles' | 'types'> {
  const roles = new Set<PersonRole>()
  const types = new Set<string>()
  for (const { pseudonym, role } of found) {
    const known = byPseudonym.get(pseudonym.toString('hex'))
    if (known === undefined || !isMeantIn(known, entry.registry)) continue
    roles.add(role)
    types.add(known.type)
  }
  return { roles, types }
}

const isMeantIn = ({ registries }: KnownIdentifier, registry: string | null): boolean =>
  registries === null || (registry !== null && registries.has(registry))

/** Answers that gave again what was shown of the person; their entries name the exchange and nobody in it. */
async function repeatsOf(
  { db }: Pick<HasVault, 'db'>,
  looks: readonly FoundLook[],
  period: Period,
): Promise<readonly FoundLook[]> {
  const shown = looks.filter(({ roles }) => roles.has('seen'))
  const types = new Map(shown.flatMap(({ account: { entry }, types }) => [[entry.correlation_id, types] as const]))
  const exchanges = [...types.keys()].filter((id) => id !== null)
  const known = new Set(looks.map(({ account }) => accountFacts(account).id))
  return (await accountsThatRepeat(db, exchanges, period))
    .filter((account) => !known.has(accountFacts(account).id))
    .map((account) => {
      const of = account.entry.repeats?.find((id) => types.has(id))
      return {
        account,
        roles: new Set<PersonRole>(['seen']),
        types: (of === undefined ? undefined : types.get(of)) ?? new Set<string>(),
        again: true,
      }
    })
}
