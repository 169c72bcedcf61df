/** The purposes that consents may name. A grant names some of them. */

import type { GrantTerms } from '@rollcall/core/model/grant'
import { listGrants, type StoredGrant } from '@rollcall/participants/store/grants'
import { listPurposes as listRows, putPurpose, removePurpose as remove } from '@rollcall/participants/store/purposes'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { isExpiredGrant } from '../grants/terms.ts'
import { closed, NO_INPUT, orNull, text } from '../members.ts'

const Code = text('Code of the purpose, as consents name it.')
const Text = text('What it means, for people.')
export const Purpose = closed({ code: Code, text: orNull(Text) })

/** Adds a purpose, or changes its text. */
export const addPurpose = defineAct(
  { name: 'purpose add', approval: 'never', input: closed({ code: Code, text: Type.Optional(Text) }), result: Purpose },
  async ({ db }: HasDatabase, { code, text = null }) => {
    await putPurpose(db, { code, text })
    return { code, text }
  },
)

export const listPurposes = defineAdminFunction({ input: NO_INPUT, result: Type.Array(Purpose) }, async ({ db }: HasDatabase) => [
  ...(await listRows(db)),
])

/** Removes a purpose. @throws AdminRefusal a grant that has not ended names it, or there is no such purpose */
export const removePurpose = defineAct(
  { name: 'purpose remove', approval: 'never', input: closed({ code: Code }), result: closed({ code: Code }) },
  async ({ db }: HasDatabase, { code }) => {
    const naming = (await listGrants(db)).filter((grant) => isPurposeInGrant(grant, code))
    if (naming.length > 0) {
      throw new AdminRefusal(
        `code: ${naming.length === 1 ? 'a grant names' : `${naming.length} grants name`} this purpose; change ${naming.length === 1 ? 'it' : 'them'} first (rollcall grant list)`,
        { reason: 'conflict' },
      )
    }
    if (await remove(db, code)) return { code }
    throw new AdminRefusal('code: there is no such purpose', { reason: 'not_found' })
  },
)

/** True when a grant that is in force, or will be, names the purpose. */
export const isPurposeInGrant = (grant: Pick<StoredGrant, 'terms' | 'valid_until'>, code: string): boolean =>
  !isExpiredGrant(grant) && (grant.terms.purposes ?? []).includes(code)

/** Returns the message that refuses an unknown purpose; null: all purposes of the grant are known. */
export function unknownPurposeMessage(
  { purposes = [] }: Pick<GrantTerms, 'purposes'>,
  known: ReadonlySet<string>,
): string | null {
  const unknown = purposes.find((code) => !known.has(code))
  return unknown === undefined
    ? null
    : `${unknown} is no configured purpose; rollcall purpose add, or the member purposes of the configuration file, makes one`
}
