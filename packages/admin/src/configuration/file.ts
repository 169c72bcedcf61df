/**
 * The configuration file: registries, participants and what they may do, without secrets. Applying it sets what the file names.
 * Registries and participants that the file leaves out stay, and so do members that an entry leaves out, except that a new
 * `signature_policy` resets `allow_unsigned`. A list in the file, such as `keys` or `grants`, is complete: stored entries that
 * are not in it are removed.
 */

import type { ReadOnly } from '@rollcall/core/model/read-only'
import { KINDS, oneOf } from '@rollcall/protocol'
import Type, { type Static } from 'typebox'
import { changeCallback } from '../callbacks/callbacks.ts'
import { AUTHORITY_INPUT_MEMBERS } from '../consents/authorities.ts'
import { addPurpose } from '../consents/purposes.ts'
import { GrantTermsSchema } from '../grants/terms.ts'
import { closed, instant, orNull, text } from '../members.ts'
import { addParticipantKeys } from '../participants/keys.ts'
import { addParticipant, ParticipantResult } from '../participants/participants.ts'
import { allowParticipantHost, changeParticipantPolicy } from '../participants/policy.ts'
import { changeParticipantSubscriptions } from '../participants/subscriptions.ts'
import { addAttribute } from '../registries/attributes.ts'
import { IDENTIFIER_TYPE_MEMBERS } from '../registries/identifier-types.ts'
import { addRegistry } from '../registries/registries.ts'

/** The version of the file's format. A later version may have members that this one does not know. */
export const FORMAT_VERSION = 1

const attributeInput = addAttribute.input.properties
const registryInput = addRegistry.input.properties
const participantInput = addParticipant.input.properties
const policyInput = changeParticipantPolicy.input.properties
const callbackInput = changeCallback.input.properties
const hostInput = allowParticipantHost.input.properties
const keyInput = addParticipantKeys.input.properties

const AttributeEntry = closed(
  {
    type: Type.Optional(attributeInput.type),
    paths: Type.Optional(attributeInput.paths),
    codes: attributeInput.codes,
    aliases: attributeInput.aliases,
    many: attributeInput.many,
    fold: attributeInput.fold,
    indexed: attributeInput.indexed,
    sortable: attributeInput.sortable,
  },
  {
    description: 'An attribute of this registry with its type and paths; of an attribute that the kind has, only indexed: true.',
  },
)

const IdentifierTypeEntry = closed(IDENTIFIER_TYPE_MEMBERS, {
  description: 'An identifier type of this registry; of one that the kind has, further names for it and the forms of its values.',
})

const RegistryEntry = closed({
  kind: oneOf(
    KINDS.map(({ name }) => name),
    { description: 'Kind of the registry.' },
  ),
  sender_id: registryInput.sender_id,
  source: registryInput.source,
  aliases: registryInput.aliases,
  time_zone: Type.Optional(registryInput.time_zone),
  majority_age: Type.Optional(registryInput.majority_age),
  web_origins: registryInput.web_origins,
  reg_type_aliases: registryInput.reg_type_aliases,
  qualified_kids: registryInput.qualified_kids,
  primary_identifiers: registryInput.primary_identifiers,
  identifier_types: Type.Optional(
    Type.Record(Type.String(), IdentifierTypeEntry, {
      description: 'By name; with this member, all that the registry has beside its kind.',
    }),
  ),
  environment: registryInput.environment,
  attributes: Type.Optional(
    Type.Record(Type.String(), Type.Record(Type.String(), AttributeEntry), {
      description: 'By record type and name; with this member, all that the registry has beside its kind.',
    }),
  ),
})

const KeyEntry = closed({
  kid: keyInput.kid,
  use: keyInput.use,
  public_key: Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], {
    description: 'In PEM, or as a JWK. A private key is refused.',
  }),
  valid_from: Type.Optional(instant('Time from which it is valid (default: now).')),
  valid_until: Type.Optional(orNull(instant('Time until which it is valid; null: no end.'))),
})

const PolicyEntry = closed({
  signature_policy: policyInput.signature_policy,
  allow_unsigned: policyInput.allow_unsigned,
  signature_profile: policyInput.signature_profile,
  encryption_policy: policyInput.encryption_policy,
  jwks_uri: policyInput.jwks_uri,
})

const HostEntry = closed({
  host: hostInput.host,
  ports: hostInput.ports,
  plainHttp: hostInput.plainHttp,
  loopback: hostInput.loopback,
  private: hostInput.private,
})

const CallbackEntry = closed(
  {
    allowed: Type.Optional(Type.Array(Type.String(), { description: 'Addresses that its requests may name.' })),
    default_url: callbackInput.default_url,
    concurrency: callbackInput.concurrency,
    rate: callbackInput.rate,
    timeout_ms: callbackInput.timeout_ms,
    schedule: callbackInput.schedule,
    notify_url: callbackInput.notify_url,
    notify_items: callbackInput.notify_items,
    notify_bytes: callbackInput.notify_bytes,
    notify_unlisted: callbackInput.notify_unlisted,
  },
  { description: 'How we call it. Credentials are set with rollcall participant callback --auth.' },
)

const ParticipantEntry = closed({
  name: Type.Optional(text('Its name for people; a new participant needs one.')),
  status: Type.Optional(ParticipantResult.properties.status),
  environment: participantInput.environment,
  max_page_size: participantInput.max_page_size,
  rate_limit: participantInput.rate_limit,
  concurrency_limit: participantInput.concurrency_limit,
  max_subscriptions: changeParticipantSubscriptions.input.properties.max_subscriptions,
  hosts: Type.Optional(Type.Array(HostEntry, { description: 'With this member, all hosts that are allowed for it.' })),
  policy: Type.Optional(PolicyEntry),
  callback: Type.Optional(CallbackEntry),
  keys: Type.Optional(Type.Array(KeyEntry, { description: 'With this member, all its keys: others are revoked for ever.' })),
  grants: Type.Optional(
    Type.Record(Type.String(), Type.Union([GrantTermsSchema, Type.Array(GrantTermsSchema)]), {
      description: 'By namespace; with this member, all its grants: others are revoked.',
    }),
  ),
})

const AuthorityEntry = closed(
  { keys: AUTHORITY_INPUT_MEMBERS.keys, jwks_uri: AUTHORITY_INPUT_MEMBERS.jwks_uri, hosts: AUTHORITY_INPUT_MEMBERS.hosts },
  { description: 'Whose signed consents count, with its public keys or where it publishes them.' },
)

const PurposeEntry = closed({ text: Type.Optional(orNull(addPurpose.input.properties.text)) })

export const Configuration = closed(
  {
    version: Type.Literal(FORMAT_VERSION, { description: 'Version of the format of this file.' }),
    purposes: Type.Optional(
      Type.Record(Type.String(), PurposeEntry, {
        description: 'By code, the purposes that consents may name; with this member, all of them: others are removed.',
      }),
    ),
    consent_authorities: Type.Optional(
      Type.Record(Type.String(), AuthorityEntry, {
        description:
          'By name (the iss of its consents); with this member, all of them: consents of others do not count any more.',
      }),
    ),
    registries: Type.Optional(Type.Record(Type.String(), RegistryEntry, { description: 'By namespace.' })),
    participants: Type.Optional(Type.Record(Type.String(), ParticipantEntry, { description: 'By sender_id.' })),
  },
  {
    title: 'Rollcall configuration',
    description: 'Registries, participants, their grants, purposes and authorities of consents.',
  },
)
export type Configuration = ReadOnly<Static<typeof Configuration>>
export type AuthorityEntry = ReadOnly<Static<typeof AuthorityEntry>>
export type PurposeEntry = ReadOnly<Static<typeof PurposeEntry>>
export type RegistryEntry = ReadOnly<Static<typeof RegistryEntry>>
export type IdentifierTypeEntry = ReadOnly<Static<typeof IdentifierTypeEntry>>
export type AttributeEntry = ReadOnly<Static<typeof AttributeEntry>>
export type ParticipantEntry = ReadOnly<Static<typeof ParticipantEntry>>
export type PolicyEntry = ReadOnly<Static<typeof PolicyEntry>>
export type HostEntry = ReadOnly<Static<typeof HostEntry>>
export type KeyEntry = ReadOnly<Static<typeof KeyEntry>>
export type CallbackEntry = ReadOnly<Static<typeof CallbackEntry>>
export type GrantsEntry = NonNullable<ParticipantEntry['grants']>
