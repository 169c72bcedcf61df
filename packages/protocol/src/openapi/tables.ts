/** What a kind knows, as Markdown tables for the reference page. */
import { CODES } from '../codes.ts'
import type { Attribute, Kind, RecordType } from '../kinds/kind.ts'
import { isNamed } from '../kinds/searchable.ts'
import type { ItemCodes } from '../operations.ts'

/** A Markdown table. Cells hold no "|": they come from the literals of kinds and codes. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

const listed = (names: readonly string[] | undefined) => (names ?? []).join(', ')

/** Identifier types, record types with their searchable attributes, and event types of a kind. */
export function kindTables(kind: Kind): string {
  return [
    kind.description,
    `\`reg_type\` ends in \`${kind.reg_type.name}\`; also accepted: ${listed(kind.reg_type.aliases)}. ` +
      'Names compare by the text after the last ":", without regard to case.',
    '## Identifier types',
    table(
      ['Type', 'Also accepted'],
      kind.identifier_types.map((type) => [type.name, listed(type.aliases)]),
    ),
    '## Record types',
    table(
      ['Record type', 'Emitted as', 'Also accepted', 'Primary identifier'],
      kind.record_types.map((type) => [
        type.name,
        type.emitted,
        listed(type.aliases),
        type.primary_identifier,
      ]),
    ),
    `Unless \`reg_record_type\` or \`response_entity\` says otherwise, ${kind.record_types[0].name} is meant.`,
    ...kind.record_types.flatMap((type) => [...attributeTable(type), ...compoundTable(type)]),
    '## Event types',
    table(
      ['Event type', 'Also accepted'],
      kind.event_types.map((type) => [type.name, listed(type.aliases)]),
    ),
  ].join('\n\n')
}

function attributeTable({ name, attributes }: RecordType): string[] {
  const rows = attributes.map((attribute) => [
    attribute.name,
    listed(attribute.aliases),
    typeOf(attribute),
    yes(attribute.sortable),
    yes(attribute.indexed),
  ])
  return [
    `## Searchable attributes of ${name}`,
    table(['Attribute', 'Also accepted', 'Type', 'Sortable', 'Indexed'], rows),
  ]
}

/** Lists whose elements have several attributes; none where the record type has no such list. */
function compoundTable(recordType: RecordType): string[] {
  const { name, compounds = [] } = recordType
  if (compounds.length === 0) return []
  const rows = compounds.flatMap((compound) =>
    compound.members.map((member) => [
      compound.name,
      listed([...(compound.aliases ?? []), ...compound.paths.filter((path) => isNamed(recordType, path))]),
      member.name,
      listed(member.aliases),
      typeOf(member),
      yes(compound.indexed),
    ]),
  )
  return [
    `## Lists of ${name}`,
    'Conditions on several attributes of a list may be asked of one and the same element of it.',
    table(['List', 'Also accepted', 'Attribute', 'Also accepted', 'Type', 'Indexed'], rows),
  ]
}

const yes = (flag: true | undefined): string => (flag ? 'yes' : '')

function typeOf({ type, codes, since, many }: Attribute): string {
  const detail = codes ? ` of ${codes}` : since ? ` since ${since}` : ''
  return `${type}${detail}${many ? ', many' : ''}`
}

/** The reason codes that the items of a reply may carry. */
export function codeTable(where: ItemCodes): string {
  const rows = CODES.filter((row) => row.where === where).map((row) => [`\`${row.code}\``, row.meaning])
  return ['Reason codes of rejected items:', table(['Code', 'Meaning'], rows)].join('\n\n')
}
