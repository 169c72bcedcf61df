/** The sessions of the console, and links by which an operator signs in once. */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import type { Limits } from '@rollcall/core/limits'
import { newSecret } from '@rollcall/participants/directory/secrets'
import { SIGN_IN_LINK_SECONDS, sessionTimeBounds } from '@rollcall/participants/directory/sessions'
import {
  addOperatorSignInLink,
  endOperatorSession,
  endOperatorSessions,
  listOperatorSessions,
} from '@rollcall/participants/store/sessions'
import Type from 'typebox'
import { type BaseActDeps, defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { callingOperator } from '../caller.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, instant, isoTime, NO_INPUT, orNull, text, wholeNumber } from '../members.ts'

interface SignInLinkDeps extends HasDatabase {
  readonly clock?: Pick<Clock, 'date'>
}

/** Makes a sign-in link. It is shown once: only the digest of its code is stored. */
export const makeSignInLink = defineAct(
  {
    name: 'operator link',
    approval: 'never',
    entry: 'within',
    input: closed({ name: text('Name of a live token: the link signs in as its owner.') }),
    result: closed({
      name: text('Name of the token.'),
      path: text('Path of the link at the address of the console. Its code is good once, and stands after the #.'),
      expires_at: instant('From when on it is refused.'),
    }),
  },
  async ({ db, clock = SYSTEM_CLOCK, approvals, caller }: SignInLinkDeps & BaseActDeps, { name }, enter) => {
    // Whoever has the link acts as its operator, and could approve acts as a second operator.
    if (approvals.areNeeded && callingOperator(caller)?.name !== name) {
      throw new AdminRefusal(
        'where acts need two operators (ROLLCALL_TWO_PERSON), a link is made for the owner of ROLLCALL_OPERATOR_TOKEN alone',
        { reason: 'forbidden' },
      )
    }
    await enter()
    const now = new Date(clock.date())
    const ends_at = new Date(now.getTime() + SIGN_IN_LINK_SECONDS * 1_000)
    const { secret, sha256 } = newSecret()
    const id = await addOperatorSignInLink(db, { name, sha256, now, ends_at })
    if (id === null) throw new AdminRefusal(`no live token is named ${name}`, { reason: 'not_found' })
    return { name, path: `/#/sign-in/${id}_${secret}`, expires_at: isoTime(ends_at) }
  },
)

const SessionId = wholeNumber('Number of the session. It is no secret.', 1)

/** Lists the sessions that have not ended. */
export const listSessions = defineAdminFunction(
  {
    input: NO_INPUT,
    result: Type.Array(
      closed({
        id: SessionId,
        name: text('Who is signed in.'),
        provider: orNull(text('The provider of OpenID Connect that said so; null: a token or a link.')),
        created_at: instant('When it began.'),
        seen_at: instant('When the operator last did something, to about 15 seconds.'),
        ends_at: instant('When it ends at the latest.'),
      }),
    ),
  },
  async ({ db, limits, clock = SYSTEM_CLOCK }: SignInLinkDeps & { readonly limits: Pick<Limits, 'session_idle'> }) => {
    const sessions = await listOperatorSessions(db, sessionTimeBounds(limits, clock.date()))
    return sessions.map(({ id, name, issuer, created_at, seen_at, ends_at }) => ({
      id,
      name,
      provider: issuer,
      created_at: isoTime(created_at),
      seen_at: isoTime(seen_at),
      ends_at: isoTime(ends_at),
    }))
  },
)

/** Ends the sessions of an operator, or one of them. Tokens, and roles at a provider, stay as they are. */
export const endSessions = defineAct(
  {
    name: 'operator sign-out',
    approval: 'never',
    input: closed({
      name: text('Who is signed in. Links that would sign in as this operator end as well.'),
      id: Type.Optional({ ...SessionId, description: 'Only this session, and no link.' }),
    }),
    result: closed({ name: text('Who was signed in.'), sessions: wholeNumber('Sessions that were ended.') }),
  },
  async ({ db }: HasDatabase, { name, id }) => {
    const sessions = await (id === undefined ? endOperatorSessions(db, name) : endOperatorSession(db, name, id))
    if (sessions > 0) return { name, sessions }
    const which = id === undefined ? '' : ' by this session'
    throw new AdminRefusal(`${name} is not signed in${which}`, { reason: 'not_found' })
  },
)
