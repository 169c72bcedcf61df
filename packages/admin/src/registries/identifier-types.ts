/** The identifier types of a registry: those of its kind, and its own. */

import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import {
  COMPARED_AS,
  type IdentifierType,
  isSortedIdentifier,
  type Kind,
  kindNamed,
  oneOf,
  resolveIdentifierType,
  sharedIdentifierType,
  withIdentifiers,
} from '@rollcall/protocol'
import { listRegistries, requireRegistry } from '@rollcall/records/registries/registries'
import {
  addIdentifierType as addRow,
  changeIdentifierType as changeRow,
  removeIdentifierType as removeRow,
} from '@rollcall/records/registries/registry-identifier-types'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { checkNoGrantNeedsRemoved } from '../grants/ungranted.ts'
import { closed, flag, Namespace, text } from '../members.ts'
import { checkSourceFitsKind } from './source-check.ts'

export { COMPARED_AS }

const Name = text('Its name in records and queries: capital letters, digits and _.')
const Aliases = Type.Array(Type.String(), { description: 'Other names for it in records and queries.' })
const Patterns = Type.Array(Type.String(), {
  description:
    'Forms of its values, such as [0-9]{13}: characters and classes, with {n}, {n,m} or ?. A value must have one of them.',
})
const ComparedAs = oneOf(COMPARED_AS, {
  description:
    'How values are compared: code without case and spaces; phone by their digits; email without case. Several people may share a phone or an email.',
})

const Sortable = flag('Whether a search may be sorted by it: by the smallest that a record bears; a record without one is last.')

export const IdentifierTypeResult = closed({
  name: Name,
  compared_as: text('How its values are compared.'),
  aliases: Aliases,
  patterns: Patterns,
  sortable: Sortable,
  primary: Type.Array(Type.String(), { description: 'Record types whose records are known by it.' }),
  from: oneOf(['kind', 'registry'], { description: "Whose it is: the kind's, or added to this registry." }),
})

/** The members by which an operator defines a new identifier type, or adds to one of the kind. */
export const IDENTIFIER_TYPE_MEMBERS = {
  compared_as: Type.Optional(ComparedAs),
  aliases: Type.Optional(Aliases),
  patterns: Type.Optional(Patterns),
  sortable: Type.Optional(Sortable),
} as const

/** Adds an identifier type to one registry; servers know it within a second. */
export const addIdentifierType = defineAct(
  {
    name: 'identifier-type add',
    approval: 'never',
    input: closed({ namespace: Namespace, name: Name, ...IDENTIFIER_TYPE_MEMBERS }),
    result: IdentifierTypeResult,
  },
  async ({ db }: HasDatabase, { namespace, name, ...given }) => {
    const type = identifierTypeOf(await requireRegistry(db, namespace), name, given)
    await checkRegistriesNormaliseAlike(db, namespace, type)
    return shownTypeByName(await addRow(db, namespace, type), type.name)
  },
)

/** Changes an identifier type that was added: members that are given replace the stored ones. */
export const changeIdentifierType = defineAct(
  {
    name: 'identifier-type set',
    approval: 'never',
    input: closed({
      namespace: Namespace,
      name: Name,
      aliases: IDENTIFIER_TYPE_MEMBERS.aliases,
      patterns: IDENTIFIER_TYPE_MEMBERS.patterns,
      sortable: IDENTIFIER_TYPE_MEMBERS.sortable,
    }),
    result: IdentifierTypeResult,
  },
  async ({ db }: HasDatabase, { namespace, name, ...given }) => {
    const registry = await requireRegistry(db, namespace)
    const { kind } = registry
    const { aliases, patterns, sortable } = kind.identifier_types.find((type) => type.name === name) ?? {}
    const before = { ...(aliases && { aliases }), ...(patterns && { patterns }), ...(sortable && { sortable }) }
    const type = identifierTypeOf({ kind }, name, { ...before, ...given })
    const changed = { identifier_types: [type], primary_identifiers: {} }
    checkSourceFitsKind(registry, withIdentifiers(kindWithoutType(kind, name), changed))
    return shownTypeByName(await changeRow(db, namespace, type), name)
  },
)

/** Removes an identifier type that was added, or the additions to a type of the kind. */
export const removeIdentifierType = defineAct(
  {
    name: 'identifier-type remove',
    approval: 'never',
    input: closed({ namespace: Namespace, name: Name }),
    result: closed({ namespace: Namespace, name: Name, removed: flag('Always true.') }),
  },
  async ({ db }: HasDatabase, { namespace, name }) => {
    const registry = await requireRegistry(db, namespace)
    const without = kindWithoutType(registry.kind, resolveIdentifierType(registry.kind, name)?.name ?? name)
    checkSourceFitsKind(registry, without)
    await checkNoGrantNeedsRemoved(db, namespace, without, name)
    await removeRow(db, namespace, name)
    return { namespace, name, removed: true }
  },
)

/** Lists the identifier types of a registry: those of its kind and its own. */
export const listIdentifierTypes = defineAdminFunction(
  { input: closed({ namespace: Namespace }), result: Type.Array(IdentifierTypeResult) },
  async ({ db }: HasDatabase, { namespace }) => {
    const registry = await requireRegistry(db, namespace)
    return registry.kind.identifier_types.map((type) => shownType(registry, type))
  },
)

/** The kind without an identifier type that was added, or without the additions to a type of the kind. */
function kindWithoutType(kind: Kind, name: string): Kind {
  const ofKind = kindNamed(kind.name)?.identifier_types.filter((type) => type.name === name) ?? []
  return { ...kind, identifier_types: kind.identifier_types.flatMap((type) => (type.name === name ? ofKind : [type])) }
}

interface TypeInput {
  readonly compared_as?: (typeof COMPARED_AS)[number]
  readonly aliases?: readonly string[]
  readonly patterns?: readonly string[]
  readonly sortable?: boolean
}

/** Makes the definition of an identifier type. Without `compared_as`, a type that a kind has is compared as in that kind. */
export function identifierTypeOf({ kind }: Pick<Registry, 'kind'>, name: string, given: TypeInput): IdentifierType {
  const own = kind.identifier_types.find((type) => type.name === name)
  const shared = own === undefined ? sharedIdentifierType(name) : undefined
  const { compared_as = (own ?? shared)?.normaliser ?? 'code', patterns = [] } = given
  const sharedAliases = shared?.name === name ? (shared.aliases ?? []) : []
  const aliases = [...new Set([...sharedAliases, ...(given.aliases ?? [])])]
  return {
    name,
    normaliser: compared_as,
    ...(aliases.length > 0 && { aliases }),
    ...(patterns.length > 0 && { patterns }),
    ...(given.sortable && { sortable: true }),
  }
}

/**
 * Checks that other registries normalise the type alike: one value must name the same person in all of them.
 * @throws AdminRefusal another registry normalises it in another way
 */
async function checkRegistriesNormaliseAlike(db: Database, namespace: string, { name, normaliser }: IdentifierType) {
  for (const registry of await listRegistries(db)) {
    const other = registry.kind.identifier_types.find((type) => type.name === name)
    if (registry.namespace === namespace || other === undefined || other.normaliser === normaliser) continue
    throw new AdminRefusal(
      `compared_as: values of ${name} are compared as ${other.normaliser} in another registry; a person must be the same in both`,
      { hint: ` (${registry.namespace})` },
    )
  }
}

function shownTypeByName(registry: Registry, name: string) {
  const type = registry.kind.identifier_types.find((row) => row.name === name)
  if (type === undefined) throw new Error('unreachable: the identifier type was declared')
  return shownType(registry, type)
}

function shownType({ kind }: Registry, { name, normaliser, aliases = [], patterns = [] }: IdentifierType) {
  const sortable = kind.record_types.some((type) => isSortedIdentifier(type, name))
  const ofKind = kindNamed(kind.name)?.identifier_types.some((type) => type.name === name) === true
  const primary = kind.record_types.filter((type) => type.primary_identifier === name)
  return {
    name,
    compared_as: normaliser,
    aliases: [...aliases],
    patterns: [...patterns],
    sortable,
    primary: primary.map((type) => type.name),
    from: ofKind ? ('kind' as const) : ('registry' as const),
  }
}
