/** Reads from a database all that a configuration file can say, and converts it into the form of the file. */

import { type ConsentAuthority, listAuthorities } from '@rollcall/consents/store/authorities'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { listGrants, type StoredGrant } from '@rollcall/participants/store/grants'
import { type CallbackSettings, findCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { listParticipantKeys, type ParticipantKey } from '@rollcall/participants/store/participant-keys'
import { listParticipants } from '@rollcall/participants/store/participants'
import { type ConsentPurpose, listPurposes } from '@rollcall/participants/store/purposes'
import { type Attribute, kindNamed } from '@rollcall/protocol'
import { listRegistries } from '@rollcall/records/registries/registries'
import { isoTime, limitJson } from '../members.ts'
import { messagePolicyOf } from '../participants/policy.ts'
import type {
  AttributeEntry,
  AuthorityEntry,
  CallbackEntry,
  Configuration,
  HostEntry,
  IdentifierTypeEntry,
  KeyEntry,
  ParticipantEntry,
  RegistryEntry,
} from './file.ts'
import { FORMAT_VERSION } from './file.ts'

/** The rows of the database that a configuration file can set. */
export interface StoredConfiguration {
  readonly purposes: readonly ConsentPurpose[]
  readonly authorities: readonly ConsentAuthority[]
  readonly registries: readonly Registry[]
  readonly participants: readonly StoredParticipant[]
}

export interface StoredParticipant {
  readonly participant: Participant
  /** The keys that are not revoked. */
  readonly keys: readonly ParticipantKey[]
  readonly callback: CallbackSettings
  /** The grants that are not revoked. */
  readonly grants: readonly StoredGrant[]
}

export async function readStoredConfiguration(db: Database): Promise<StoredConfiguration> {
  const grants = await listGrants(db)
  const participants: StoredParticipant[] = []
  for (const participant of await listParticipants(db)) {
    const keys = await listParticipantKeys(db, participant)
    participants.push({
      participant,
      keys: keys.filter(({ revoked_at }) => revoked_at === null),
      callback: await findCallbackSettings(db, participant.id),
      grants: grants.filter((grant) => grant.participant === participant.id),
    })
  }
  return {
    purposes: await listPurposes(db),
    authorities: await listAuthorities(db),
    registries: await listRegistries(db),
    participants,
  }
}

/** Converts the stored rows into the content of a configuration file. */
export function configurationOf({ purposes, authorities, registries, participants }: StoredConfiguration): Configuration {
  return {
    version: FORMAT_VERSION,
    purposes: Object.fromEntries(purposes.map(({ code, text }) => [code, { text }])),
    consent_authorities: Object.fromEntries(authorities.map((row) => [row.name, authorityEntry(row)])),
    registries: Object.fromEntries(registries.map((row) => [row.namespace, registryEntry(row)])),
    participants: Object.fromEntries(participants.map((row) => [row.participant.sender_id, participantEntry(row, registries)])),
  }
}

/** A consent authority as a configuration file has it. Its keys are JWKs with their kid. */
export const authorityEntry = ({ jwks_uri, outgoing, keys }: Omit<ConsentAuthority, 'id'>) =>
  ({ jwks_uri, hosts: [...outgoing], keys: keys.map(({ kid, public_jwk }) => ({ ...public_jwk, kid })) }) satisfies AuthorityEntry

/** A registry as a configuration file has it. */
export function registryEntry(registry: Registry): RegistryEntry & Required<Pick<RegistryEntry, 'attributes'>> {
  const { kind, sender_id, aliases, time_zone, majority_age, environment, web_origins } = registry
  const { reg_type_aliases, qualified_kids, source } = registry
  const identifier_types = identifierTypeEntries(registry)
  const attributes = kind.record_types.flatMap((recordType) => {
    const added = recordType.attributes.flatMap((attribute) => {
      const entry = attributeEntry(registry, recordType.name, attribute)
      return entry === null ? [] : [[attribute.name, entry] as const]
    })
    return added.length === 0 ? [] : [[recordType.name, Object.fromEntries(added)] as const]
  })
  return {
    kind: kind.name,
    sender_id,
    aliases,
    time_zone,
    environment,
    ...(majority_age !== 18 && { majority_age }),
    ...(web_origins.length > 0 && { web_origins: [...web_origins] }),
    ...(reg_type_aliases.length > 0 && { reg_type_aliases: [...reg_type_aliases] }),
    ...(qualified_kids && { qualified_kids }),
    ...(source !== null && { source: { ...source } }),
    ...primariesEntry(registry),
    ...(Object.keys(identifier_types).length > 0 && { identifier_types }),
    attributes: Object.fromEntries(attributes),
  }
}

/** The entry for primary identifiers that differ from those of the kind. */
function primariesEntry({ kind }: Registry): Pick<RegistryEntry, 'primary_identifiers'> {
  const literal = kindNamed(kind.name)?.record_types ?? []
  const own = kind.record_types.filter(({ name, primary_identifier }) =>
    literal.every((one) => one.name !== name || one.primary_identifier !== primary_identifier),
  )
  if (own.length === 0) return {}
  return { primary_identifiers: Object.fromEntries(own.map((one) => [one.name, one.primary_identifier])) }
}

/** The identifier types that the kind does not have; for a type that it has, only the additions. */
function identifierTypeEntries({ kind }: Registry): Readonly<Record<string, IdentifierTypeEntry>> {
  const literal = kindNamed(kind.name)?.identifier_types ?? []
  const entries = kind.identifier_types.flatMap(({ name, normaliser, aliases = [], patterns, sortable }) => {
    const own = literal.find((one) => one.name === name)
    const more = aliases.filter((alias) => !own?.aliases?.includes(alias))
    const given = { ...(more.length > 0 && { aliases: more }), ...(patterns && { patterns }), ...(sortable && { sortable }) }
    // A type that an operator added never has the normaliser `exact`: the comparison is only for TypeScript.
    const compared_as = own === undefined && normaliser !== 'exact' ? { compared_as: normaliser } : {}
    const entry: IdentifierTypeEntry = { ...compared_as, ...given }
    return Object.keys(entry).length === 0 ? [] : [[name, entry] as const]
  })
  return Object.fromEntries(entries)
}

/** The entry of an attribute in the file; null: the attribute is that of the kind, unchanged. */
function attributeEntry(registry: Registry, record_type: string, attribute: Attribute): AttributeEntry | null {
  const own = kindNamed(registry.kind.name)?.record_types.find(({ name }) => name === record_type)
  const ofKind = own?.attributes.find(({ name }) => name === attribute.name)
  if (ofKind !== undefined) return attribute.indexed && !ofKind.indexed ? { indexed: true } : null
  const { name: _, since: __, type, ...given } = attribute
  // Only TypeScript needs the comparison with `age`: an operator's own attribute is never an age.
  return type === 'age' ? null : { type, ...given }
}

/** A participant as a configuration file has it. */
export const participantEntry = ({ participant, keys, callback, grants }: StoredParticipant, registries: readonly Registry[]) =>
  ({
    name: participant.name,
    status: participant.status,
    environment: participant.environment,
    max_page_size: participant.max_page_size,
    rate_limit: limitJson(participant.rate_limit),
    concurrency_limit: limitJson(participant.concurrency_limit),
    max_subscriptions: limitJson(participant.max_subscriptions),
    hosts: hostEntries(participant),
    policy: messagePolicyOf(participant),
    callback: callbackEntry(callback),
    keys: keys.map(keyEntry).toReversed(),
    grants: grantEntries(grants, registries),
  }) satisfies ParticipantEntry

const hostEntries = ({ outgoing }: Pick<Participant, 'outgoing'>): readonly HostEntry[] =>
  outgoing.toSorted((one, other) => (one.host < other.host ? -1 : 1))

/** Callback settings as a configuration file has them, without credentials. */
export const callbackEntry = ({ auth: _, sealed: __, ...shown }: CallbackSettings): Required<CallbackEntry> => ({
  ...shown,
  allowed: shown.allowed.toSorted(),
})

const keyEntry = ({ kid, use, public_jwk, valid_from, valid_until }: ParticipantKey): KeyEntry => ({
  kid,
  use,
  public_key: { ...public_jwk },
  valid_from: isoTime(valid_from),
  valid_until: isoTime(valid_until),
})

function grantEntries(grants: readonly StoredGrant[], registries: readonly Registry[]): Required<ParticipantEntry>['grants'] {
  const named = registries.map(({ id, namespace }) => {
    const terms = grants.filter(({ registry }) => registry === id).map((grant) => grant.terms)
    return [namespace, terms] as const
  })
  const held = named.filter(([, terms]) => terms.length > 0)
  return Object.fromEntries(
    held.map(([namespace, [first, ...others]]) => [
      namespace,
      first !== undefined && others.length === 0 ? first : [first, ...others].filter((one) => one !== undefined),
    ]),
  )
}
