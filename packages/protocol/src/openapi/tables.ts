/** Markdown tables about a kind, for the reference page. */
import { namesOf } from '../attributes/record-keys.ts'
import { CODES } from '../codes.ts'
import type { Attribute, Kind, RecordType } from '../kinds/kind.ts'
import { isQueryablePath } from '../kinds/searchable.ts'
import type { ItemCodes } from '../operation.ts'

/** A Markdown table. A "|" in a cell is escaped: the path of an added attribute may have one. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')
}

const joinNames = (names: readonly string[] | undefined) => (names ?? []).join(', ')

/** All names except the canonical one, with commas between them. */
const otherNamesText = (row: Parameters<typeof namesOf>[0]) => joinNames(namesOf(row).slice(1))

const ATTRIBUTE_NAMES_NOTE =
  'Queries and records may use any name, also with a prefix such as `spdci:`. The first place of "Read from" with a value counts.'

/** Markdown about a kind: its description, identifier types, record types with attributes, and event types. */
export function kindMarkdown(kind: Kind): string {
  return [
    kind.description,
    `\`reg_type\` ends in \`${kind.reg_type.name}\`; also accepted: ${joinNames(kind.reg_type.aliases)}. ` +
      'Names are compared by the text after the last ":", without regard to case.',
    '## Identifier types',
    identifierTable(kind),
    '## Record types',
    markdownTable(
      ['Record type', 'Emitted as', 'Also accepted', 'Primary identifier'],
      kind.record_types.map((type) => [type.name, type.emitted, joinNames(type.aliases), type.primary_identifier]),
    ),
    `Unless \`reg_record_type\` or \`response_entity\` names another one, the record type is ${kind.record_types[0].name}.`,
    ...kind.record_types.flatMap((type) => [...attributeTable(type), ...compoundTable(type)]),
    '## Event types',
    markdownTable(
      ['Event type', 'Also accepted'],
      kind.event_types.map((type) => [type.name, joinNames(type.aliases)]),
    ),
  ].join('\n\n')
}

/** The identifier types. There is a column for the forms of values if some type has forms. */
function identifierTable({ identifier_types }: Kind): string {
  const rows = identifier_types.map((type) => [type.name, otherNamesText(type)])
  if (identifier_types.every(({ patterns }) => patterns === undefined)) return markdownTable(['Type', 'Also accepted'], rows)
  const forms = identifier_types.map(({ patterns = [] }) => patterns.map((one) => `\`${one}\``).join(' or '))
  return markdownTable(
    ['Type', 'Also accepted', 'Values'],
    rows.map((row, at) => [...row, forms[at] ?? '']),
  )
}

function attributeTable({ name, attributes }: RecordType): string[] {
  const rows = attributes.map((attribute) => [
    attribute.name,
    otherNamesText(attribute),
    attributeTypeText(attribute),
    pathsText(attribute.paths),
    yesOrEmpty(attribute.sortable),
    yesOrEmpty(attribute.indexed),
  ])
  return [
    `## Searchable attributes of ${name}`,
    ATTRIBUTE_NAMES_NOTE,
    markdownTable(['Attribute', 'Also accepted', 'Type', 'Read from', 'Sortable', 'Indexed'], rows),
  ]
}

/** The lists whose elements have several attributes; empty when the record type has no such list. */
function compoundTable(recordType: RecordType): string[] {
  const { name, compounds = [] } = recordType
  if (compounds.length === 0) return []
  const rows = compounds.flatMap((compound) =>
    compound.members.map((member) => [
      compound.name,
      member.name,
      otherNamesText(member),
      attributeTypeText(member),
      pathsText(member.paths, member.record_paths),
      yesOrEmpty(compound.indexed),
    ]),
  )
  const places = compounds.map((compound) => {
    const aliases = joinNames([
      ...namesOf(compound).slice(1),
      ...compound.paths.filter((path) => isQueryablePath(recordType, path)),
    ])
    return `- ${compound.name}${aliases === '' ? '' : ` (also accepted: ${aliases})`}: ${pathsText(compound.paths)}`
  })
  return [
    `## Lists of ${name}`,
    'Conditions on several attributes may apply to one element of a list. Its elements are the objects at the first of these places:',
    places.join('\n'),
    markdownTable(['List', 'Attribute', 'Also accepted', 'Type', 'Read from', 'Indexed'], rows),
  ]
}

/**
 * Returns paths as the text of a table cell. `inRecord` are paths in the record for an attribute of list elements; each gets the
 * prefix `record:`.
 */
function pathsText(paths: readonly string[], inRecord: readonly string[] = []): string {
  const here = paths.map((path) => (path === '' ? 'itself' : `\`${path}\``))
  return [...here, ...inRecord.map((path) => `record: \`${path}\``)].join(', ')
}

const yesOrEmpty = (flag: true | undefined): string => (flag ? 'yes' : '')

function attributeTypeText({ type, codes, since, many, fold }: Attribute): string {
  const detail = codes ? ` of ${codes}` : since ? ` since ${since}` : ''
  return `${type}${detail}${fold ? ', folded' : ''}${many ? ', many' : ''}`
}

/** A Markdown table of the reason codes that rejected items of a reply may have. */
export function reasonCodeTable(where: ItemCodes): string {
  const rows = CODES.filter((row) => row.where === where).map((row) => [`\`${row.code}\``, row.meaning])
  return ['Reason codes of rejected items:', markdownTable(['Code', 'Meaning'], rows)].join('\n\n')
}
