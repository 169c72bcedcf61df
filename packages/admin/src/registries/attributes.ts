/** The searchable attributes of a registry. */

import type { Registry } from '@rollcall/core/model/registry'
import { type Attribute, CODE_LISTS, type CodeListName, type Kind, namesOf, oneOf, type RecordType } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import {
  addAttribute as addRow,
  declareAttributeIndex as indexRow,
  isAttributeOfKind,
  removeAttribute as removeRow,
  requireRecordType,
} from '@rollcall/records/registries/registry-attributes'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { defineAdminFunction } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { checkNoGrantNeedsRemoved } from '../grants/ungranted.ts'
import { closed, flag, Namespace, orNull, RecordTypeName, text } from '../members.ts'
import { checkSourceFitsKind } from './source-check.ts'

/** The types that an operator's own attribute can have. Only attributes of a kind can have the type `age`. */
export const ATTRIBUTE_TYPES = ['text', 'code', 'date', 'datetime', 'number', 'boolean'] as const satisfies Attribute['type'][]

// The cast is safe: the table has exactly the names of the type.
const CODES = oneOf(Object.keys(CODE_LISTS) as CodeListName[], {
  description: 'For type code: the list of codes, with the spellings that mean the same.',
})
const Name = text('Its name in queries: lower-case letters, digits and _.')
const Names = (description: string) => Type.Array(Type.String(), { description })
const Paths = Names('Dotted paths in the record, tried in order.')
const RECORD_TYPE_PLACE = { namespace: Namespace, record_type: RecordTypeName } as const

const ATTRIBUTE_FLAG_MEMBERS = {
  many: flag('One record may have it many times.'),
  fold: flag('Text is compared without regard to case and accents.'),
  indexed: flag('An index is declared for it.'),
  sortable: flag('Searches may be sorted by it.'),
} as const

export const AttributeResult = closed({
  record_type: RecordTypeName,
  name: Name,
  type: oneOf([...ATTRIBUTE_TYPES, 'age'], { description: 'Type of its values.' }),
  codes: orNull(CODES),
  ...ATTRIBUTE_FLAG_MEMBERS,
  filled: flag('False: searches that ask about it are refused until its column is filled.'),
  from: oneOf(['kind', 'registry'], { description: "Whose it is: the kind's, or added to this registry." }),
  aliases: Names('Other names for it in queries.'),
  paths: Paths,
})

/** Adds an attribute to a record type of one registry; servers know it within a second. */
export const addAttribute = defineAct(
  {
    name: 'attribute add',
    approval: 'never',
    input: closed({
      ...RECORD_TYPE_PLACE,
      name: Name,
      paths: Paths,
      type: oneOf(ATTRIBUTE_TYPES, { description: 'Type of its values.' }),
      codes: Type.Optional(CODES),
      aliases: Type.Optional(Names('Other names for it in queries.')),
      many: Type.Optional(ATTRIBUTE_FLAG_MEMBERS.many),
      fold: Type.Optional(ATTRIBUTE_FLAG_MEMBERS.fold),
      indexed: Type.Optional(ATTRIBUTE_FLAG_MEMBERS.indexed),
      sortable: Type.Optional(ATTRIBUTE_FLAG_MEMBERS.sortable),
    }),
    result: AttributeResult,
  },
  async ({ db }: HasDatabase, { namespace, record_type, many, fold, indexed, sortable, ...given }) => {
    const attribute: Attribute = {
      ...given,
      ...(many && { many }),
      ...(fold && { fold }),
      ...(indexed && { indexed }),
      ...(sortable && { sortable }),
    }
    return attributeByName(await addRow(db, namespace, record_type, attribute), record_type, attribute.name)
  },
)

/** Declares an index for an attribute that is searched without one. */
export const indexAttribute = defineAct(
  { name: 'attribute index', approval: 'never', input: closed({ ...RECORD_TYPE_PLACE, name: Name }), result: AttributeResult },
  async ({ db }: HasDatabase, { namespace, record_type, name }) =>
    attributeByName(await indexRow(db, namespace, record_type, name), record_type, name),
)

/** Removes an attribute that was added, with its column, or the index that was added to an attribute of the kind. */
export const removeAttribute = defineAct(
  {
    name: 'attribute remove',
    approval: 'never',
    input: closed({ ...RECORD_TYPE_PLACE, name: Name }),
    result: closed({ ...RECORD_TYPE_PLACE, name: Name, removed: flag('Always true.') }),
  },
  async ({ db }: HasDatabase, { namespace, record_type, name }) => {
    const registry = await requireRegistry(db, namespace)
    const without = kindWithoutAttribute(registry, record_type, name)
    if (without !== null) {
      checkSourceFitsKind(registry, without)
      await checkNoGrantNeedsRemoved(db, namespace, without, name)
    }
    await removeRow(db, namespace, record_type, name)
    return { namespace, record_type, name, removed: true }
  },
)

/** Lists the attributes of a registry: those of its kind and its own. */
export const listAttributes = defineAdminFunction(
  { input: closed({ namespace: Namespace, record_type: Type.Optional(RecordTypeName) }), result: Type.Array(AttributeResult) },
  async ({ db }: HasDatabase, { namespace, record_type }) => {
    const registry = await requireRegistry(db, namespace)
    const types = record_type === undefined ? registry.kind.record_types : [requireRecordType(registry, record_type)]
    return types.flatMap((type) => type.attributes.map((attribute) => shownAttribute(registry, type, attribute)))
  },
)

/** The kind without an attribute that was added; null: the attribute belongs to the kind itself. */
export function kindWithoutAttribute(registry: Registry, record_type: string, removed: string): Kind | null {
  const recordType = requireRecordType(registry, record_type)
  if (isAttributeOfKind(registry, recordType, removed)) return null
  const [first, ...others] = registry.kind.record_types.map((row) =>
    row === recordType ? { ...row, attributes: row.attributes.filter(({ name }) => name !== removed) } : row,
  )
  return first === undefined ? null : { ...registry.kind, record_types: [first, ...others] }
}

function attributeByName(registry: Registry, record_type: string, name: string) {
  const type = requireRecordType(registry, record_type)
  const attribute = type.attributes.find((row) => row.name === name)
  if (attribute === undefined) throw new Error('unreachable: the attribute was declared')
  return shownAttribute(registry, type, attribute)
}

function shownAttribute(registry: Registry, recordType: RecordType, attribute: Attribute) {
  const unfilled = registry.unfilled.get(recordType.name)
  return {
    record_type: recordType.name,
    name: attribute.name,
    type: attribute.type,
    codes: attribute.codes ?? null,
    many: attribute.many === true,
    fold: attribute.fold === true,
    indexed: attribute.indexed === true,
    sortable: attribute.sortable === true,
    filled: unfilled?.has(attribute.since ?? attribute.name) !== true,
    from: isAttributeOfKind(registry, recordType, attribute.name) ? ('kind' as const) : ('registry' as const),
    aliases: namesOf(attribute).slice(1),
    paths: attribute.paths,
  }
}
