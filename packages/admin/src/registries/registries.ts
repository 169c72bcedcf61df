/** The registries that are hosted here. */

import { ENVIRONMENTS } from '@rollcall/core/model/environment'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { KINDS, type Kind, kindNamed, oneOf, withIdentifiers } from '@rollcall/protocol'
import { countRecords } from '@rollcall/records/records/record-counts'
import { readPrimaryIdentifiers } from '@rollcall/records/registries/primary-identifiers'
import {
  addRegistry as addRow,
  listRegistries as listRows,
  requireRegistry,
  updateRegistry,
} from '@rollcall/records/registries/registries'
import { setPrimaryIdentifiers } from '@rollcall/records/registries/registry-identifier-types'
import { changeSource, checkSourceChange } from '@rollcall/source/change-source'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { isSameJson } from '../approvals/diff-lines.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, Namespace, NO_INPUT, orNull, text } from '../members.ts'
import { isDemoDatabase } from '../participants/participants.ts'
import { checkSourceFile, checkSourceFitsKind, convertSourceRefusals, type SourceDeps } from './source-check.ts'

const TimeZone = text('IANA name of the time zone in which its days begin and ages are counted.')
const MajorityAge = Type.Integer({
  minimum: 1,
  maximum: 99,
  description: 'Years at which a person comes of age; grants that never find minors count by it.',
})
const ReceiverIdAliases = Type.Array(Type.String(), { description: 'More values of receiver_id that it accepts.' })

const WebOrigins = Type.Array(Type.String(), {
  description: 'Origins of web pages that may ask it from a browser, such as https://app.example; none by default.',
})

const RegTypeAliases = Type.Array(Type.String(), {
  description: 'More values of reg_type that mean it in its own paths, even where they mean another kind elsewhere.',
})
const PublishesQualifiedKids = flag(
  'Its key set names each key for signatures a second time, as sender_id|kid|ed25519: for peers that look up the whole kidId.',
)

const PrimaryTypes = Type.Record(Type.String(), Type.String(), {
  description:
    'By record type, the identifier type by which its records are known, each by exactly one; without it that of the kind. It can be named only while the registry has no records.',
})

const Source = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      'What its source file holds, as JSON, where its records stay in a database of their own: it says where the address of the database is, and how rows become records.',
  },
)
const AllowWriter = flag('The account of the source may write: for a trial, and never for people.')

const REGISTRY_MEMBERS = {
  namespace: Namespace,
  kind: oneOf(
    KINDS.map(({ name }) => name),
    { description: 'Kind of the registry.' },
  ),
  sender_id: text('Its sender_id in messages.'),
  aliases: ReceiverIdAliases,
  time_zone: TimeZone,
  majority_age: MajorityAge,
  web_origins: WebOrigins,
  reg_type_aliases: RegTypeAliases,
  qualified_kids: PublishesQualifiedKids,
  primary_identifiers: PrimaryTypes,
  environment: oneOf(ENVIRONMENTS, {
    description: 'live: real people; sandbox: synthetic people, for systems that are being tried out.',
  }),
  demo: flag('Made for the demo.'),
  source: orNull(Source),
} as const
export const RegistryResult = closed(REGISTRY_MEMBERS)
export const RecordCounts = Type.Record(Type.String(), Type.Integer(), {
  description: 'By record type; empty where they are in a database of their own.',
})

/** The settings that may be given for a new registry, and changed later. */
const SETTING_MEMBERS = {
  aliases: Type.Optional(ReceiverIdAliases),
  time_zone: Type.Optional(TimeZone),
  majority_age: Type.Optional(MajorityAge),
  web_origins: Type.Optional(WebOrigins),
  reg_type_aliases: Type.Optional(RegTypeAliases),
  qualified_kids: Type.Optional(PublishesQualifiedKids),
  primary_identifiers: Type.Optional(PrimaryTypes),
}

/** Adds a registry with its tables; a running server has it within a second. */
export const addRegistry = defineAct(
  {
    name: 'registry add',
    approval: {
      when: 'wider',
      role: 'own',
      // A registry has nothing to show until records are imported; with a source it shows the records of the source.
      compare: (wanted) => (wanted.source === undefined ? null : { wanted }),
    },
    input: closed({
      kind: REGISTRY_MEMBERS.kind,
      namespace: Type.Optional(text('First segment of its paths (default: the kind; of a sandbox the kind and -test).')),
      sender_id: Type.Optional(text('Its sender_id in messages (default: <namespace>.rollcall).')),
      ...SETTING_MEMBERS,
      environment: Type.Optional(REGISTRY_MEMBERS.environment),
      source: Type.Optional(Source),
      allow_writer: Type.Optional(AllowWriter),
    }),
    result: RegistryResult,
  },
  async (
    { db, env, kind: planned }: SourceDeps,
    {
      kind,
      environment = 'live',
      namespace = environment === 'sandbox' ? `${kind}-test` : kind,
      sender_id = `${namespace}.rollcall`,
      aliases = [],
      time_zone = 'UTC',
      majority_age = 18,
      web_origins = [],
      reg_type_aliases = [],
      qualified_kids = false,
      primary_identifiers = {},
      source,
      allow_writer,
    },
  ) => {
    if (source !== undefined) {
      if (environment === 'sandbox') {
        throw new AdminRefusal('source: a sandbox has synthetic people, and no database of its own', { at: ['source'] })
      }
      await checkSourceFile(
        { db, env },
        planned ?? kindWithPrimaries(requireKindNamed(kind), primary_identifiers),
        source,
        allow_writer,
      )
    }
    const demo = await isDemoDatabase(db)
    const row = { kind, namespace, sender_id, aliases, time_zone, majority_age, environment, demo }
    const settings = { web_origins, reg_type_aliases, qualified_kids, primary_identifiers, source: source ?? null }
    return shownRegistry(await addRow(db, { ...row, ...settings }))
  },
)

/** Changes a registry. Servers apply it within a second. */
export const changeRegistry = defineAct(
  {
    name: 'registry set',
    approval: {
      when: 'wider',
      role: 'own',
      stored: async ({ db }: SourceDeps, { namespace }) => shownRegistry(await requireRegistry(db, namespace)),
      compare({ namespace, ...given }, stored) {
        const isOther = given.source !== undefined && !isSameJson(given.source, stored.source)
        return isOther || isWiderRegistryChange(stored, given) ? { about: { namespace }, stored, wanted: given } : null
      },
    },
    settings: true,
    input: closed({
      namespace: Namespace,
      ...SETTING_MEMBERS,
      source: Type.Optional(Source),
      allow_writer: Type.Optional(AllowWriter),
    }),
    result: RegistryResult,
  },
  async ({ db, env }: SourceDeps, { namespace, primary_identifiers, allow_writer, source, ...changes }) => {
    if (primary_identifiers === undefined && source === undefined && Object.keys(changes).length === 0)
      throw new AdminRefusal(
        'nothing to change: give aliases, time_zone, majority_age, web_origins, reg_type_aliases, qualified_kids, primary_identifiers or source',
      )
    const registry = await requireRegistry(db, namespace)
    const changed = { ...registry, kind: kindWithPrimaries(registry.kind, primary_identifiers ?? {}) }
    if (source !== undefined) {
      await convertSourceRefusals(async () => checkSourceChange(changed, source))
      await checkSourceFile({ db, env }, changed.kind, source, allow_writer)
    } else if (primary_identifiers !== undefined) checkSourceFitsKind(registry, changed.kind)
    // Primary identifiers and source come first, because they may be refused: a call changes all or nothing.
    if (primary_identifiers !== undefined) await setPrimaryIdentifiers(db, namespace, primary_identifiers)
    if (source !== undefined) await convertSourceRefusals(() => changeSource(db, changed, source))
    return shownRegistry(await updateRegistry(db, namespace, changes))
  },
)

/** True when a change permits more: a younger age of majority, or other web pages that may ask. */
const isWiderRegistryChange = (
  stored: Pick<Registry, 'majority_age' | 'web_origins'>,
  given: { readonly majority_age?: number | undefined; readonly web_origins?: readonly string[] | undefined },
): boolean =>
  (given.majority_age ?? stored.majority_age) < stored.majority_age ||
  (given.web_origins ?? []).some((origin) => !stored.web_origins.includes(origin))

/** Lists the registries that this version can read, sorted by namespace, with the numbers of their stored records. */
export const listRegistries = defineAdminFunction(
  { input: NO_INPUT, result: Type.Array(closed({ ...REGISTRY_MEMBERS, records: RecordCounts })) },
  async ({ db }: HasDatabase) => {
    const registries = await listRows(db)
    return Promise.all(
      registries.map(async (registry) => ({ ...shownRegistry(registry), records: await countStoredRecords(db, registry) })),
    )
  },
)

/** Counts the stored records of a registry by type. Empty if its records stay in a source: counting would read them all. */
export const countStoredRecords = async (db: Database, registry: Registry): Promise<Readonly<Record<string, number>>> =>
  registry.own_records || registry.source === null ? countRecords(db, registry) : {}

function requireKindNamed(kind: string): Kind {
  const found = kindNamed(kind)
  if (found === undefined) throw new AdminRefusal(`kind: there is no kind ${kind}`)
  return found
}

/**
 * Returns the kind with primary identifier types that are given in any spelling. @throws StoreRefusal a type cannot be primary
 */
function kindWithPrimaries(kind: Kind, given: Readonly<Record<string, string>>): Kind {
  const { types, names } = readPrimaryIdentifiers(kind, given)
  return withIdentifiers(kind, { identifier_types: types, primary_identifiers: names })
}

/** A registry as admin functions show it. */
export function shownRegistry(registry: Registry) {
  const { namespace, kind, sender_id, aliases, time_zone, majority_age, environment, demo } = registry
  const { web_origins, reg_type_aliases, qualified_kids } = registry
  const primary_identifiers = Object.fromEntries(
    kind.record_types.map(({ name, primary_identifier }) => [name, primary_identifier]),
  )
  const own = { sender_id, aliases, time_zone, majority_age, web_origins, primary_identifiers }
  const source = registry.source === null ? null : { ...registry.source }
  return { namespace, kind: kind.name, ...own, reg_type_aliases, qualified_kids, environment, demo, source }
}
