/** The registries that are hosted here. */

import { ENVIRONMENTS } from '@rollcall/core/model/environment'
import type { Registry } from '@rollcall/core/model/registry'
import { KINDS, oneOf } from '@rollcall/protocol'
import { countRecords } from '@rollcall/records/records/record-counts'
import {
  addRegistry as addRow,
  listRegistries as listRows,
  registryAt,
  setRegistry,
} from '@rollcall/records/registries/registries'
import { setPrimaryIdentifiers } from '@rollcall/records/registries/registry-identifier-types'
import Type from 'typebox'
import { act } from '../act.ts'
import { closed, flag, Namespace, NOTHING, text } from '../members.ts'
import type { HasDatabase } from '../needs.ts'
import { isDemoDatabase } from '../participants/participants.ts'
import { AdminRefusal, useCase } from '../use-case.ts'

const TimeZone = text('IANA name of the time zone in which its days begin and ages are counted.')
const MajorityAge = Type.Integer({
  minimum: 1,
  maximum: 99,
  description: 'Years at which a person comes of age; grants that never find minors count by it.',
})
const Aliases = Type.Array(Type.String(), { description: 'More values of receiver_id that it accepts.' })

const WebOrigins = Type.Array(Type.String(), {
  description: 'Origins of web pages that may ask it from a browser, such as https://app.example; none by default.',
})

const RegTypeAliases = Type.Array(Type.String(), {
  description: 'More values of reg_type that mean it in its own paths, even where they mean another kind elsewhere.',
})
const QualifiedKids = flag(
  'Its key set names each key for signatures a second time, as sender_id|kid|ed25519: for peers that look up the whole kidId.',
)

const Primaries = Type.Record(Type.String(), Type.String(), {
  description:
    'By record type, the identifier type by which its records are known, each by exactly one; without it that of the kind. It can be named only while the registry has no records.',
})

const REGISTRY = {
  namespace: Namespace,
  kind: oneOf(
    KINDS.map(({ name }) => name),
    { description: 'Kind of the registry.' },
  ),
  sender_id: text('Its sender_id in messages.'),
  aliases: Aliases,
  time_zone: TimeZone,
  majority_age: MajorityAge,
  web_origins: WebOrigins,
  reg_type_aliases: RegTypeAliases,
  qualified_kids: QualifiedKids,
  primary_identifiers: Primaries,
  environment: oneOf(ENVIRONMENTS, {
    description: 'live: real people; sandbox: synthetic people, for systems that are being tried out.',
  }),
  demo: flag('Made for the demo.'),
} as const
export const RegistryResult = closed(REGISTRY)
export const Records = Type.Record(Type.String(), Type.Integer(), { description: 'By record type.' })

/** Adds a registry with its tables; a running server has it within a second. */
export const addRegistry = act(
  {
    name: 'registry add',
    approval: 'never',
    input: closed({
      kind: REGISTRY.kind,
      namespace: Type.Optional(
        text('First segment of its paths (default: the kind; of a sandbox the kind and -test).'),
      ),
      sender_id: Type.Optional(text('Its sender_id in messages (default: <namespace>.rollcall).')),
      aliases: Type.Optional(Aliases),
      time_zone: Type.Optional(TimeZone),
      majority_age: Type.Optional(MajorityAge),
      web_origins: Type.Optional(WebOrigins),
      reg_type_aliases: Type.Optional(RegTypeAliases),
      qualified_kids: Type.Optional(QualifiedKids),
      primary_identifiers: Type.Optional(Primaries),
      environment: Type.Optional(REGISTRY.environment),
    }),
    result: RegistryResult,
  },
  async (
    { db }: HasDatabase,
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
    },
  ) => {
    const demo = await isDemoDatabase(db)
    const row = { kind, namespace, sender_id, aliases, time_zone, majority_age, environment, demo }
    return described(await addRow(db, { ...row, web_origins, reg_type_aliases, qualified_kids, primary_identifiers }))
  },
)

/** Changes a registry; servers follow within a second. */
export const changeRegistry = act(
  {
    name: 'registry set',
    approval: {
      when: 'wider',
      role: 'own',
      async compare({ db }: HasDatabase, { namespace, ...given }) {
        const stored = described(await registryAt(db, namespace))
        return isOpener(stored, given) ? { about: { namespace }, stored, wanted: given } : null
      },
    },
    settings: true,
    input: closed({
      namespace: Namespace,
      aliases: Type.Optional(Aliases),
      time_zone: Type.Optional(TimeZone),
      majority_age: Type.Optional(MajorityAge),
      web_origins: Type.Optional(WebOrigins),
      reg_type_aliases: Type.Optional(RegTypeAliases),
      qualified_kids: Type.Optional(QualifiedKids),
      primary_identifiers: Type.Optional(Primaries),
    }),
    result: RegistryResult,
  },
  async ({ db }: HasDatabase, { namespace, primary_identifiers, ...changes }) => {
    if (primary_identifiers === undefined && Object.keys(changes).length === 0)
      throw new AdminRefusal(
        'nothing to change: give aliases, time_zone, majority_age, web_origins, reg_type_aliases, qualified_kids or primary_identifiers',
      )
    // It may be refused: what is changed by one call is changed whole.
    if (primary_identifiers !== undefined) await setPrimaryIdentifiers(db, namespace, primary_identifiers)
    return described(await setRegistry(db, namespace, changes))
  },
)

/** Whether younger persons are minors no more, or other web pages may ask. */
export const isOpener = (
  stored: Pick<Registry, 'majority_age' | 'web_origins'>,
  given: { readonly majority_age?: number | undefined; readonly web_origins?: readonly string[] | undefined },
): boolean =>
  (given.majority_age ?? stored.majority_age) < stored.majority_age ||
  (given.web_origins ?? []).some((origin) => !stored.web_origins.includes(origin))

/** Every registry, by namespace, with the number of its records. */
export const listRegistries = useCase(
  { input: NOTHING, result: Type.Array(closed({ ...REGISTRY, records: Records })) },
  async ({ db }: HasDatabase) => {
    const registries = await listRows(db)
    return Promise.all(
      registries.map(async (registry) => ({ ...described(registry), records: await countRecords(db, registry) })),
    )
  },
)

/** A registry as it is given. */
export function described(registry: Registry) {
  const { namespace, kind, sender_id, aliases, time_zone, majority_age, environment, demo } = registry
  const { web_origins, reg_type_aliases, qualified_kids } = registry
  const primary_identifiers = Object.fromEntries(
    kind.record_types.map(({ name, primary_identifier }) => [name, primary_identifier]),
  )
  const own = { sender_id, aliases, time_zone, majority_age, web_origins, primary_identifiers }
  return { namespace, kind: kind.name, ...own, reg_type_aliases, qualified_kids, environment, demo }
}
