/** Grants: what a participant may do in a registry. Without one it may do nothing. */

import type { Grant } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { GrantProblem } from '@rollcall/core/policy/grant-problem'
import { GRANT_TEMPLATES, termsOfTemplate } from '@rollcall/core/policy/grant-templates'
import { shownAttributes } from '@rollcall/core/policy/shown-attributes'
import type { Database } from '@rollcall/database/database'
import { grantEnvironmentProblem, listGrants as listRows, type StoredGrant } from '@rollcall/participants/store/grants'
import { listParticipants } from '@rollcall/participants/store/participants'
import { listRegistries, requireRegistry } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import type { HasClock, HasDatabase } from '../deps.ts'
import { closed, flag, isoTime, Namespace, orNull, SenderId, text, wholeNumber } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'
import { GrantTermsSchema } from './terms.ts'

export { GRANT_TEMPLATES }

/** The members of an input that name the grants of a participant in a registry. */
export const GRANT_KEY_MEMBERS = { sender_id: SenderId, namespace: Namespace } as const

export const GrantResult = closed({
  ...GRANT_KEY_MEMBERS,
  version: wholeNumber('Of the grant: a change makes a new one. One count goes over all grants of the database.'),
  terms: GrantTermsSchema,
  valid_from: text('When it begins to count.'),
  valid_until: orNull(text('When it ends; null: no end.')),
})

/** Returns the terms of a template for a registry, to grant them or to write them into a file. */
export const showGrantTemplate = defineAdminFunction(
  {
    input: closed({ namespace: Namespace, template: text(`One of ${GRANT_TEMPLATES.map(({ name }) => name).join(', ')}.`) }),
    result: GrantTermsSchema,
  },
  async ({ db }: HasDatabase, { namespace, template }) => {
    const found = GRANT_TEMPLATES.find(({ name }) => name === template)
    if (found === undefined) {
      throw new AdminRefusal(`template: must be one of ${GRANT_TEMPLATES.map(({ name }) => name).join(', ')}`)
    }
    return termsOfTemplate((await requireRegistry(db, namespace)).kind, found)
  },
)

/** Lists the templates of grants, with their terms for a registry. */
export const listGrantTemplates = defineAdminFunction(
  {
    input: closed({ namespace: Namespace }),
    result: Type.Array(closed({ name: text('Of the template.'), description: text('What it is for.'), terms: GrantTermsSchema })),
  },
  async ({ db }: HasDatabase, { namespace }) => {
    const { kind } = await requireRegistry(db, namespace)
    return GRANT_TEMPLATES.map((row) => ({ name: row.name, description: row.description, terms: termsOfTemplate(kind, row) }))
  },
)

/** Lists the grants that are not revoked, past and future ones included. */
export const listGrants = defineAdminFunction(
  { input: closed({ sender_id: Type.Optional(SenderId), namespace: Type.Optional(Namespace) }), result: Type.Array(GrantResult) },
  async ({ db }: HasDatabase, { sender_id, namespace }) => {
    const participant = sender_id === undefined ? undefined : await requireParticipant(db, sender_id)
    const registry = namespace === undefined ? undefined : await requireRegistry(db, namespace)
    const rows = await listRows(db, {
      ...(participant && { participant: participant.id }),
      ...(registry && { registry: registry.id }),
    })
    return withSenderAndNamespace(db, rows)
  },
)

/** Lists grants that end within the given number of days, or have ended. */
export const listExpiringGrants = defineAdminFunction(
  { input: closed({ days: wholeNumber('From now.', 0, 36_500) }), result: Type.Array(GrantResult) },
  async ({ db, now = () => new Date() }: HasDatabase & HasClock, { days }) => {
    const until = now().getTime() + days * 86_400_000
    const rows = await listRows(db)
    return withSenderAndNamespace(
      db,
      rows.filter(({ valid_until }) => valid_until !== null && valid_until.getTime() <= until),
    )
  },
)

const attributesByRecordType = (description: string) =>
  Type.Record(Type.String(), Type.Array(Type.String()), { description: `By record type, ${description}.` })

/** Explains the grant in force, attribute by attribute. */
export const explainGrant = defineAdminFunction(
  {
    input: closed(GRANT_KEY_MEMBERS),
    result: closed({
      ...GrantResult.properties,
      asks: attributesByRecordType('the attributes that may be asked about'),
      asks_not: attributesByRecordType('those that may not'),
      sees: attributesByRecordType('the attributes that may be seen'),
      sees_not: attributesByRecordType('those that may not'),
      sees_everything: flag('Whether records are shown whole, with what is no attribute.'),
      identifier_types: Type.Array(Type.String(), { description: 'Identifier types that may be asked about and seen.' }),
    }),
  },
  async ({ db, now = () => new Date() }: HasDatabase & HasClock, { sender_id, namespace }) => {
    const participant = await requireParticipant(db, sender_id)
    const registry = await requireRegistry(db, namespace)
    const found = await requireGrantInForce(db, { participant, registry }, now())
    const { kind, visible } = await requireReadableGrant(registry, found)
    const types = registry.kind.record_types
    const asks = new Map(kind.record_types.map(({ name, attributes }) => [name, namesOfRows(attributes)]))
    const sees = new Map(types.map((row) => [row.name, shownAttributes({ visible }, row)]))
    const others = (named: ReadonlyMap<string, readonly string[]>) =>
      types.map(({ name, attributes }): [string, string[]] => {
        const known = named.get(name) ?? []
        return [name, namesOfRows(attributes).filter((one) => !known.includes(one))]
      })
    return {
      ...shownGrant(found, sender_id, namespace),
      asks: Object.fromEntries(asks),
      asks_not: Object.fromEntries(others(asks)),
      sees: Object.fromEntries(sees),
      sees_not: Object.fromEntries(others(sees)),
      sees_everything: visible === null,
      identifier_types: kind.identifier_types.map(({ name }) => name),
    }
  },
)

/** Returns the grant in force. @throws AdminRefusal there is none */
export async function requireGrantInForce(
  db: Database,
  { participant, registry }: { readonly participant: Participant; readonly registry: Registry },
  now: Date,
): Promise<StoredGrant> {
  const rows = await listRows(db, { participant: participant.id, registry: registry.id })
  const found = rows.find((row) => isInForce(row, now))
  if (found !== undefined) return found
  const other = grantEnvironmentProblem(participant.environment, registry)
  const why = other === null ? '' : `; ${other}`
  throw new AdminRefusal(
    `${participant.sender_id} has no grant in force in ${registry.namespace}: it may do nothing there${why}`,
    { reason: 'not_found' },
  )
}

/** Returns the grant with parsed terms. @throws AdminRefusal this version cannot parse them: they grant nothing */
async function requireReadableGrant({ kind }: Pick<Registry, 'kind'>, found: Pick<Grant, 'id' | 'terms'>): Promise<Grant> {
  const { readGrant } = await import('@rollcall/core/policy/grant')
  try {
    return readGrant(kind, found)
  } catch (error) {
    if (!(error instanceof GrantProblem)) throw error
    throw new AdminRefusal(`the grant in force cannot be read any more and grants nothing: ${error.message}`, { cause: error })
  }
}

const namesOfRows = (rows: readonly { readonly name: string }[]): string[] => rows.map(({ name }) => name)

/** True when a grant is in force at this time. */
export const isInForce = ({ valid_from, valid_until }: Pick<StoredGrant, 'valid_from' | 'valid_until'>, now: Date): boolean =>
  valid_from <= now && (valid_until === null || valid_until > now)

async function withSenderAndNamespace(db: Database, rows: readonly StoredGrant[]) {
  const participants = new Map((await listParticipants(db)).map(({ id, sender_id }) => [id, sender_id]))
  const registries = new Map((await listRegistries(db)).map(({ id, namespace }) => [id, namespace]))
  return rows.flatMap((row) => {
    const sender_id = participants.get(row.participant)
    const namespace = registries.get(row.registry)
    return sender_id === undefined || namespace === undefined ? [] : [shownGrant(row, sender_id, namespace)]
  })
}

/** A grant as admin functions show it. */
export const shownGrant = ({ id, terms, valid_from, valid_until }: StoredGrant, sender_id: string, namespace: string) => ({
  sender_id,
  namespace,
  version: id,
  terms,
  valid_from: isoTime(valid_from),
  valid_until: isoTime(valid_until),
})
