/** The operators of the admin API: their tokens have roles, and expire. */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { readAuthorityNames } from '@rollcall/consents/store/authorities'
import { OPENID_NAME_PREFIX, OPERATOR_ROLES, type OperatorRole, PROPOSAL_DECIDING_ROLES } from '@rollcall/core/model/operator'
import { formatOperatorToken } from '@rollcall/participants/directory/operators'
import { newSecret } from '@rollcall/participants/directory/secrets'
import {
  addOperatorToken,
  listOperatorTokens,
  type OperatorToken,
  revokeOperatorToken,
} from '@rollcall/participants/store/operator-tokens'
import { lapseProposalsOf } from '@rollcall/participants/store/proposals'
import { endOperatorSessions } from '@rollcall/participants/store/sessions'
import { oneOf } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { requireAuthority } from '../consents/authorities.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, dateOf, flag, instant, isoTime, Namespace, NO_INPUT, orNull, text, wholeNumber } from '../members.ts'

export { OPERATOR_ROLES, type OperatorRole } from '@rollcall/core/model/operator'

const Name = text('Name of the token, such as of the person or program that has it.')
const Roles = Type.Array(
  oneOf(OPERATOR_ROLES, {
    description:
      'read: see all but personal data; publish: only send events; consent: only withdraw consents; operate: read, withdraw consents, and change what runs; audit: read, and see personal data; own: everything.',
  }),
  { minItems: 1, description: 'What it may do.' },
)
const Registries = Type.Array(Namespace, { minItems: 1, description: 'Registries that it is bound to.' })
const ExpiresAt = instant('From when on it is refused.')

const Authority = text('The consent authority whose consents alone it may withdraw, by its name.')

const OPERATOR_MEMBERS = {
  name: Name,
  roles: Roles,
  registries: orNull(Registries),
  authority: orNull(Authority),
  expires_at: ExpiresAt,
} as const

const DAY_MS = 86_400_000
const DEFAULT_TOKEN_DAYS = 90
const MOST_TOKEN_DAYS = 366

interface TokenDeps extends HasDatabase {
  readonly clock?: Pick<Clock, 'date'>
}

/** Makes an operator token. It is shown once: only its digest is stored. */
export const addOperator = defineAct(
  {
    name: 'operator add',
    approval: {
      when: 'wider',
      role: 'own',
      // Two operators must agree to add one who may decide about proposals.
      compare: (wanted) => (wanted.roles.some((role) => PROPOSAL_DECIDING_ROLES.has(role)) ? { wanted } : null),
    },
    input: closed({
      name: Name,
      roles: Roles,
      registries: Type.Optional(Registries),
      authority: Type.Optional(Authority),
      expires_at: Type.Optional(
        instant(`From when on it is refused (default: in ${DEFAULT_TOKEN_DAYS} days; in ${MOST_TOKEN_DAYS} days at the latest).`),
      ),
    }),
    result: closed({ ...OPERATOR_MEMBERS, token: text('The token. It is not stored and cannot be shown again.') }),
  },
  async ({ db, clock = SYSTEM_CLOCK }: TokenDeps, { name, roles, registries, authority, expires_at }) => {
    if (/^\s*rollcall\b/iu.test(name)) {
      throw new AdminRefusal('name: must not begin with rollcall, as the names do that Rollcall gives itself')
    }
    if (name.startsWith(OPENID_NAME_PREFIX)) {
      throw new AdminRefusal(
        `name: must not begin with ${OPENID_NAME_PREFIX}, as the names do that a provider of OpenID Connect gives`,
      )
    }
    // Some texts name two operators, such as `ann; approved by ben`. No name may look like such a text.
    if (/[,;\p{C}\p{Zl}\p{Zp}]/u.test(name)) {
      throw new AdminRefusal('name: must have no comma, semicolon, control character or invisible character')
    }
    const now = clock.date()
    const expires =
      expires_at === undefined ? new Date(now + DEFAULT_TOKEN_DAYS * DAY_MS) : requireValidExpiry(now, dateOf(expires_at))
    const bound = registries && (await Promise.all(registries.map((namespace) => requireRegistry(db, namespace))))
    if (authority !== undefined) checkAuthorityToken(roles, registries)
    const signing = authority === undefined ? null : await requireAuthority(db, authority)
    const { secret, sha256 } = newSecret()
    const id = await addOperatorToken(db, {
      name,
      roles,
      sha256,
      expires_at: expires,
      registries: bound?.map((registry) => registry.id) ?? null,
      authority: signing?.id ?? null,
    })
    const token = formatOperatorToken(id, secret)
    return { name, roles, registries: registries ?? null, authority: authority ?? null, expires_at: isoTime(expires), token }
  },
)

/** Checks a token for an authority. It must have the role consent alone, and no registries. @throws AdminRefusal */
function checkAuthorityToken(roles: readonly OperatorRole[], registries: readonly string[] | undefined): void {
  if (roles.some((role) => role !== 'consent')) {
    throw new AdminRefusal('authority: is for a token with the role consent, and no other role')
  }
  if (registries === undefined) return
  throw new AdminRefusal('authority: a token is bound to registries or to an authority, not to both')
}

function requireValidExpiry(now: number, end: Date): Date {
  if (end.getTime() > now && end.getTime() <= now + MOST_TOKEN_DAYS * DAY_MS) return end
  throw new AdminRefusal(`expires_at: must be in the future, and at most ${MOST_TOKEN_DAYS} days away`)
}

/** Lists all operator tokens, also ended ones, sorted by name, without their secrets. */
export const listOperators = defineAdminFunction(
  {
    input: NO_INPUT,
    result: Type.Array(
      closed({
        ...OPERATOR_MEMBERS,
        live: flag('False: it has expired or was revoked.'),
        created_at: instant('When it was made.'),
        revoked_at: orNull(instant('When it was revoked.')),
      }),
    ),
  },
  async ({ db, clock = SYSTEM_CLOCK }: TokenDeps) => {
    const names = await readAuthorityNames(db)
    return (await listOperatorTokens(db)).map((token) => ({
      ...shownToken(token, clock.date()),
      authority: token.authority === null ? null : (names.get(token.authority) ?? null),
    }))
  },
)

/** Revokes a token, ends the sessions of its operator, and lets the operator's waiting proposals lapse. */
export const revokeOperator = defineAct(
  {
    name: 'operator revoke',
    approval: 'never',
    input: closed({ name: Name }),
    result: closed({
      name: Name,
      sessions: wholeNumber('Sessions of the console that it ended.'),
      proposals: wholeNumber('What it had proposed and still waited: nobody can approve it any more.'),
    }),
  },
  async ({ db }: HasDatabase, { name }) => {
    const revoked = await db.journal.write({ kind: 'operator_revoked', name }, () => revokeOperatorToken(db, name))
    const sessions = await endOperatorSessions(db, name)
    const proposals = await lapseProposalsOf(db, name)
    if (revoked || sessions > 0 || proposals > 0) return { name, sessions, proposals }
    throw new AdminRefusal(`no live token is named ${name}`, { reason: 'not_found' })
  },
)

function shownToken(token: OperatorToken, now: number) {
  const { name, roles, registries, created_at, expires_at, revoked_at } = token
  return {
    name,
    roles,
    registries,
    live: revoked_at === null && expires_at.getTime() > now,
    created_at: isoTime(created_at),
    expires_at: isoTime(expires_at),
    revoked_at: isoTime(revoked_at),
  }
}
