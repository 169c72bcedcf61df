/** Rows of registries, with the additions that operators made to their kinds. */

import { IDENTIFIER_ROWS_GROUP_NAME, type Registry } from '@rollcall/core/model/registry'
import { StoreRefusal } from '@rollcall/database/refusal'
import {
  type Attribute,
  type AttributeAddition,
  canonicalJson,
  extendKind,
  type IdentifierType,
  type Kind,
  kindNamed,
  withIdentifiers,
} from '@rollcall/protocol'
import { type Kysely, sql } from 'kysely'
import { columnGroups } from '../records/columns.ts'

/** The settings of a registry: all members of `Registry` except its id, its names, its kind, and its backfills (`unfilled`). */
export interface RegistrySettings extends Omit<Registry, 'id' | 'namespace' | 'kind' | 'sender_id' | 'aliases' | 'unfilled'> {
  /** The primary identifier types that replace those of the kind, by the name of the record type. */
  readonly primary_identifiers: Readonly<Record<string, string>>
}

/** The default settings of a registry. They also replace missing columns when a restore reads rows of an earlier version. */
export const REGISTRY_DEFAULTS: RegistrySettings = {
  demo: false,
  time_zone: 'UTC',
  majority_age: 18,
  environment: 'live',
  web_origins: [],
  reg_type_aliases: [],
  qualified_kids: false,
  own_records: true,
  awaits_records: false,
  source: null,
  primary_identifiers: {},
}

/**
 * Reads registries with their additions in one statement, because a node reads them as often as twice a second.
 * @param namespace null for all registries
 */
export async function selectRegistries(
  kysely: Kysely<unknown>,
  namespace: string | null,
): Promise<readonly RegistryRowWithAdditions[]> {
  const { rows } = await sql<RegistryRowWithAdditions>`select registry.*,
      (select coalesce(json_agg(json_build_object('record_type', record_type, 'name', name, 'definition', definition)
        order by record_type, name), '[]') from registry_attribute where registry = registry.id) as additions,
      (select coalesce(json_agg(json_build_object('name', name, 'definition', definition) order by name), '[]')
        from registry_identifier_type where registry = registry.id) as identifier_types,
      (select coalesce(json_agg(json_build_object('record_type', record_type, 'name', name)), '[]')
        from column_fill where registry = registry.id) as fills
    from registry where ${namespace}::text is null or namespace = ${namespace} order by namespace`.execute(kysely)
  return rows.map((row) => ({ ...REGISTRY_DEFAULTS, ...row }))
}

interface RegistryRowWithAdditions extends Omit<Registry, 'kind' | 'unfilled'>, RegistrySettings {
  readonly kind: string
  readonly additions: readonly StoredAttribute[]
  readonly identifier_types: readonly StoredIdentifierType[]
  readonly fills: readonly { readonly record_type: string; readonly name: string }[]
}

/** Makes a registry of its row, with its extended kind. @throws StoreRefusal this version does not know the kind */
export function toRegistry(row: RegistryRowWithAdditions): Registry {
  const { id, namespace, sender_id, aliases, demo, time_zone, majority_age, environment, web_origins } = row
  const kind = kindNamed(row.kind)
  if (!kind) {
    throw new StoreRefusal(`the registry at ${namespace} is of kind ${row.kind}, which this version does not know`)
  }
  const { reg_type_aliases, qualified_kids, own_records, awaits_records = false, source } = row
  const extendedKind = kindWithAdditions(kind, row)
  return {
    id,
    namespace,
    kind: extendedKind,
    sender_id,
    aliases,
    demo,
    time_zone,
    majority_age,
    environment,
    web_origins,
    reg_type_aliases,
    qualified_kids,
    own_records,
    awaits_records,
    source,
    unfilled: namesToBackfillByRecordType(kind, extendedKind, row),
  }
}

/**
 * The names of columns that still need a backfill, by record type. Columns that this version does not know are left out. While
 * the identifier rows need a backfill, the result also has the added identifier types.
 * @param literal the kind as the program defines it, without the additions of operators
 * @param kind the same kind with these additions
 */
function namesToBackfillByRecordType(
  literal: Kind,
  kind: Kind,
  { fills, identifier_types }: RegistryRowWithAdditions,
): Registry['unfilled'] {
  const added = identifier_types
    .filter(
      ({ name, definition }) => definition.aliases !== undefined || literal.identifier_types.every((type) => type.name !== name),
    )
    .map(({ name }) => name)
  const unfilled = new Map<string, ReadonlySet<string>>()
  for (const recordType of kind.record_types) {
    const known = new Set([...columnGroups(recordType).map(({ name }) => name), IDENTIFIER_ROWS_GROUP_NAME])
    const names = fills.filter(({ record_type, name }) => record_type === recordType.name && known.has(name))
    const all = names.flatMap(({ name }) => (name === IDENTIFIER_ROWS_GROUP_NAME ? [name, ...added] : [name]))
    if (all.length > 0) unfilled.set(recordType.name, new Set(all))
  }
  return unfilled
}

/** An attribute as stored. For an attribute of the kind, only `indexed` is used: the rest comes from this version's kind. */
interface StoredAttribute {
  readonly record_type: string
  readonly name: string
  readonly definition: Partial<Omit<Attribute, 'name'>>
}

/** An identifier type as stored for a registry; for a type of the kind, only what the operator added. */
interface StoredIdentifierType {
  readonly name: string
  readonly definition: Omit<IdentifierType, 'name'>
}

/**
 * Extended kinds by content. Other caches use a kind's record types as keys, so the same additions must always give the
 * same object. There is one entry for each different set of additions.
 */
const extendedKinds = new Map<string, Kind>()

/** The kind with the additions of a registry: the same object for the same additions. */
function kindWithAdditions(
  kind: Kind,
  { additions, identifier_types, primary_identifiers, reg_type_aliases }: RegistryRowWithAdditions,
): Kind {
  const attributes = additions.flatMap((attribute) => attributeAdditionOrNull(kind, attribute) ?? [])
  const types = identifier_types.map(({ name, definition }) => ({ ...definition, name }))
  const identifiers = { identifier_types: types, primary_identifiers }
  const more = [attributes, types, Object.keys(primary_identifiers), reg_type_aliases]
  if (more.every(({ length }) => length === 0)) return kind
  const key = `${kind.name} ${canonicalJson({ attributes, ...identifiers, reg_type_aliases })}`
  const found = extendedKinds.get(key) ?? {
    ...extendKind(withIdentifiers(kind, identifiers), attributes),
    reg_type: { ...kind.reg_type, aliases: [...kind.reg_type.aliases, ...reg_type_aliases] },
  }
  extendedKinds.set(key, found)
  return found
}

/**
 * Turns a stored attribute into an addition to the kind. If the kind itself has the attribute, the addition is only an index, or
 * null when no index was added. Also null when the record type is unknown, or the attribute has no type or paths.
 */
function attributeAdditionOrNull(kind: Kind, { record_type, name, definition }: StoredAttribute): AttributeAddition | null {
  const recordType = kind.record_types.find((row) => row.name === record_type)
  if (recordType === undefined) return null
  const own = recordType.attributes.find((attribute) => attribute.name === name)
  if (own !== undefined) {
    return definition.indexed ? { record_type, attribute: { ...own, indexed: true } } : null
  }
  const { type, paths } = definition
  return type && paths ? { record_type, attribute: { ...definition, name, type, paths } } : null
}
