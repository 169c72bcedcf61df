/** Holds: data that is not deleted while somebody needs it, such as a court. */

import { loadAuditKeys } from '@rollcall/audit/keys'
import { pseudonymOf } from '@rollcall/audit/persons'
import {
  removeHold as endHold,
  HOLD_KINDS,
  type Hold,
  addHold as insertHold,
  listHolds as readHolds,
} from '@rollcall/database/holds'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { type BaseActDeps, defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import { callerText } from '../caller.ts'
import type { HasDatabase, HasVault } from '../deps.ts'
import { closed, dateOf, instant, isoTime, markPersonal, NO_INPUT, orNull, SenderId, text, wholeNumber } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'
import { findPerson } from './person.ts'

const HoldResult = closed({
  id: wholeNumber('Its number.', 1),
  kind: oneOf(HOLD_KINDS, { description: 'What it covers.' }),
  participant: orNull(SenderId),
  from: orNull(instant('Begin of the period.')),
  until: orNull(instant('End of the period.')),
  reason: text('Why.'),
  created_by: text('Who added it.'),
  created_at: instant('When it was added.'),
})

const holdFacts = ({ begins_at, ends_at, created_at, ...hold }: Hold) => ({
  id: hold.id,
  kind: hold.kind,
  participant: hold.participant,
  from: isoTime(begins_at),
  until: isoTime(ends_at),
  reason: hold.reason,
  created_by: hold.created_by,
  created_at: isoTime(created_at),
})

/** Adds a hold. A person is stored as pseudonyms, so that the hold itself says nothing about the person. */
export const addHold = defineAct(
  {
    name: 'hold add',
    approval: 'never',
    entry: 'within',
    input: closed({
      person: Type.Optional(
        markPersonal(
          closed(
            { type: text('Identifier type.'), value: text('Its value.') },
            { description: 'The person whose audit entries are held.' },
          ),
        ),
      ),
      participant: Type.Optional(SenderId),
      from: Type.Optional(instant('Begin of a period.')),
      until: Type.Optional(instant('End of a period: the first moment that is not in it.')),
      reason: Type.String({ minLength: 1, maxLength: 1_000, description: 'Why, without personal data.' }),
    }),
    result: HoldResult,
  },
  async (deps: HasVault & BaseActDeps, { person, participant, from, until, reason }, enter) => {
    const period = from !== undefined || until !== undefined
    if ([person !== undefined, participant !== undefined, period].filter(Boolean).length !== 1) {
      throw new AdminRefusal('give one of: person; participant; from and until')
    }
    const { db } = deps
    const common = { reason, created_by: callerText(deps.caller), begins_at: null, ends_at: null, participant: null }
    if (person !== undefined) {
      const found = await findPerson(db, person)
      const { pseudonyms: secret } = await loadAuditKeys(db, await deps.vault())
      const pseudonyms = found.identifiers.map((identifier) => pseudonymOf(secret, identifier))
      await enter({ note: 'hold add --person', persons: [{ role: 'asked', identifiers: found.identifiers }] })
      return holdFacts(await insertHold(db, { ...common, kind: 'person', pseudonyms }))
    }
    if (participant !== undefined) {
      await requireParticipant(db, participant)
      await enter({ note: 'hold add --participant' })
      return holdFacts(await insertHold(db, { ...common, kind: 'participant', participant, pseudonyms: null }))
    }
    const [begins_at, ends_at] = [dateOf(from ?? ''), dateOf(until ?? '')]
    if (!(begins_at.getTime() < ends_at.getTime())) {
      throw new AdminRefusal('until: a period needs from and until, and from must be earlier')
    }
    await enter({ note: 'hold add --from --until' })
    return holdFacts(await insertHold(db, { ...common, kind: 'period', begins_at, ends_at, pseudonyms: null }))
  },
)

/** Lists the holds in force, the oldest first. */
export const listHolds = defineAct(
  { name: 'hold list', approval: 'never', input: NO_INPUT, result: Type.Array(HoldResult) },
  async ({ db }: HasDatabase) => (await readHolds(db)).map(holdFacts),
)

/** Finds the scope and the reason of a hold; null: no such hold is in force. */
export async function findHoldFacts({ db }: HasDatabase, number: number) {
  const found = (await readHolds(db)).find(({ id }) => id === number)
  if (found === undefined) return null
  const { id: _, ...shown } = holdFacts(found)
  return shown
}

/** Ends a hold: the next prune may delete the data that it kept. */
export const removeHold = defineAct(
  {
    name: 'hold remove',
    approval: {
      when: 'always',
      role: 'own',
      async concerns(deps: HasDatabase, { id }) {
        const hold = await findHoldFacts(deps, id)
        // The act itself refuses an unknown hold.
        return hold === null ? null : { about: { id }, stored: { hold }, wanted: { hold: null } }
      },
    },
    input: closed({ id: wholeNumber('Its number.', 1) }),
    result: closed({ id: wholeNumber('Its number.', 1) }),
  },
  async ({ db, caller }: HasDatabase & BaseActDeps, { id }) => {
    if (!(await endHold(db, id, callerText(caller)))) {
      throw new AdminRefusal(`there is no hold ${id} in force`, { reason: 'not_found' })
    }
    return { id }
  },
)
