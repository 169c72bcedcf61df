/** Consent authorities: who may sign consents. */

import {
  type ConsentAuthority,
  findAuthority,
  listAuthorities,
  putAuthority,
  removeAuthority,
} from '@rollcall/consents/store/authorities'
import { consentsSignedBy } from '@rollcall/consents/store/withdrawals'
import type { AllowedHost } from '@rollcall/core/model/allowed-hosts'
import { isStatementTimeout } from '@rollcall/database/database-errors'
import { stopUsesOfEndedConsents } from '@rollcall/delivery/store/events/consent-stopping'
import { readPublicKeyFile } from '@rollcall/participants/directory/key-file'
import { createAddressGuard } from '@rollcall/participants/egress/address-guard'
import { findUnreachableReason } from '@rollcall/participants/egress/address-rules'
import { allowedHostsProblem } from '@rollcall/participants/store/message-policy'
import { KeyRefused, readPublicKey } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { isSameJson } from '../approvals/diff-lines.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, orNull, text } from '../members.ts'
import { HostsResult } from '../participants/policy.ts'
import { StoppedSendingResult } from './receipt.ts'

export const AuthorityName = text('Name of the authority: the iss of its consents.')

const AuthorityResult = closed({
  name: AuthorityName,
  jwks_uri: orNull(text('Where it publishes its keys; null: only registered keys count.')),
  hosts: HostsResult,
  keys: Type.Array(
    closed({
      kid: text('Name of the key.'),
      algorithm: text('JOSE name of its algorithm.'),
      public_key: Type.Record(Type.String(), Type.Unknown(), { description: 'As a JWK.' }),
    }),
  ),
})

export const AUTHORITY_INPUT_MEMBERS = {
  /** Each element is PEM, a JWK or a JWK set. */
  keys: Type.Optional(
    Type.Array(Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())]), {
      description: 'Its public keys for signatures, in PEM, as JWKs or JWK sets: with this member, all of them.',
    }),
  ),
  jwks_uri: Type.Optional(orNull(text('Where it publishes its keys; null: only registered keys count.'))),
  hosts: Type.Optional(HostsResult),
} as const

/** Adds an authority, or replaces the stored one of this name. Servers use the change within a second. */
export const addConsentAuthority = defineAct(
  {
    name: 'consent authority add',
    approval: {
      when: 'wider',
      role: 'own',
      async stored({ db }: HasDatabase, { name, keys = [] }) {
        const [found, given] = [await findAuthority(db, name), await readAuthorityKeys(name, keys)]
        return { authority: found && shownAuthority(found), given }
      },
      compare({ name, jwks_uri = null, hosts = [] }, { authority, given }) {
        const { name: _, ...wanted } = shownAuthority({ name, jwks_uri, outgoing: hosts, keys: given })
        if (isSameJson(authority, { name, ...wanted })) return null
        return { about: { name }, stored: authority ?? {}, wanted }
      },
    },
    settings: true,
    input: closed({ name: AuthorityName, ...AUTHORITY_INPUT_MEMBERS }),
    result: AuthorityResult,
  },
  async ({ db }: HasDatabase, { name, keys = [], jwks_uri = null, hosts = [] }) => {
    const authority = { name, jwks_uri, outgoing: hosts, keys: await readAuthorityKeys(name, keys) }
    await checkAuthority(authority)
    await putAuthority(db, authority)
    return shownAuthority(authority)
  },
)

/** Reads the keys of an authority from texts and JWKs. @throws KeyRefused a key cannot be used */
export async function readAuthorityKeys(
  name: string,
  given: readonly (string | { readonly [member: string]: unknown })[],
): Promise<ConsentAuthority['keys']> {
  const jwks = given.flatMap((one) => readPublicKeyFile(typeof one === 'string' ? one : JSON.stringify(one)))
  return Promise.all(jwks.map((jwk) => readPublicKey(jwk, { sender_id: name, use: 'sig' })))
}

/**
 * Checks an authority without fetching anything, so that the operator learns of an error before the first consent.
 * @throws AdminRefusal, KeyRefused, AddressRefused
 */
export async function checkAuthority({ keys, jwks_uri, outgoing }: Omit<ConsentAuthority, 'id'>): Promise<void> {
  if (keys.length === 0 && jwks_uri === null) throw new AdminRefusal('keys: needs a key, or a jwks_uri')
  if (keys.some(({ use }) => use !== 'sig')) throw new KeyRefused('the key of an authority is for signatures')
  const problem = allowedHostsProblem(outgoing) ?? outgoing.map(findUnreachableReason).find((reason) => reason !== null)
  if (problem) throw new AdminRefusal(`hosts: ${problem}`)
  if (jwks_uri !== null) await checkAddress(outgoing, jwks_uri)
}

async function checkAddress(outgoing: readonly AllowedHost[], address: string): Promise<void> {
  const guard = createAddressGuard({ allowed: outgoing })
  try {
    await guard.check(address)
  } finally {
    await guard.close()
  }
}

export const listConsentAuthorities = defineAdminFunction(
  { input: closed({}), result: Type.Array(AuthorityResult) },
  async ({ db }: HasDatabase) => (await listAuthorities(db)).map(shownAuthority),
)

/** Removes an authority: consents that it signed do not count any more. Subscriptions and deliveries under them are stopped. */
export const removeConsentAuthority = defineAct(
  {
    name: 'consent authority remove',
    approval: 'never',
    settings: true,
    input: closed({ name: AuthorityName }),
    result: closed({ name: AuthorityName, stopped: StoppedSendingResult, unfinished: flag('Stopping is left to the servers.') }),
  },
  async ({ db }: HasDatabase, { name }) => {
    const missing = new AdminRefusal('name: no such consent authority is registered', { reason: 'not_found' })
    if ((await findAuthority(db, name)) === null) throw missing
    const stopped = await db.journal.write({ kind: 'authority_removed', authority: name }, async () => {
      const id = await removeAuthority(db.pool, name)
      if (id === null) throw missing
      // If a statement that stops subscriptions or deliveries takes over 30 seconds, it is cancelled. The authority is removed
      // all the same: server tasks and delivery attempts do the stopping later.
      await db.pool.query("select set_config('statement_timeout', '30s', true)")
      return stopUsesOfEndedConsents(db, consentsSignedBy(id)).catch((error: unknown) => {
        if (isStatementTimeout(error)) return null
        throw error
      })
    })
    const { subscriptions, ...counts } = stopped ?? { subscriptions: [], notifications: 0, deliveries: 0, in_flight: 0 }
    return { name, stopped: { ...counts, subscriptions: [...subscriptions] }, unfinished: stopped === null }
  },
)

/** Finds an authority by its name. @throws AdminRefusal there is none of this name */
export async function requireAuthority(db: HasDatabase['db'], name: string): Promise<ConsentAuthority> {
  const found = await findAuthority(db, name)
  if (found !== null) return found
  throw new AdminRefusal('authority: no such consent authority is registered', { reason: 'not_found' })
}

/** A consent authority as admin functions show it. */
export const shownAuthority = ({ name, jwks_uri, outgoing, keys }: Omit<ConsentAuthority, 'id'>) => ({
  name,
  jwks_uri,
  hosts: [...outgoing],
  keys: keys.map(({ kid, algorithm, public_jwk }) => ({ kid, algorithm, public_key: { ...public_jwk } })),
})

/** Returns the message that refuses an unknown authority; null: all authorities of the grant are known. */
export function unknownAuthorityMessage(
  { authorities = [] }: { readonly authorities?: readonly string[] },
  known: ReadonlySet<string>,
): string | null {
  const unknown = authorities.find((name) => !known.has(name))
  return unknown === undefined
    ? null
    : `${unknown} is no registered consent authority; rollcall consent authority add, or the member consent_authorities of the configuration file, makes one`
}
