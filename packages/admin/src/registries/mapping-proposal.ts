/** Proposes a mapping of the columns of a file, for review. */

import type { Readable } from 'node:stream'
import { nearestNameHint } from '@rollcall/base/shared/message-words'
import type { Database } from '@rollcall/database/database'
import { refuseWithoutHeader } from '@rollcall/import/header-line'
import { proposeColumns } from '@rollcall/import/propose-mapping'
import type { ProposedColumn } from '@rollcall/import/proposed-column'
import { readTableSample } from '@rollcall/import/table-sample'
import { KINDS, type Kind, kindNamed, oneOf, resolveRecordType } from '@rollcall/protocol'
import { findRegistry, listRegistries } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { closed, flag, orNull, text, wholeNumber } from '../members.ts'

interface ProposalDeps {
  /** Null: there is no database, so only the kinds are known. */
  readonly db: Database | null
  /** The path of the file whose columns are mapped, or a stream. */
  readonly source: string | Readable
}

/** The most line numbers that a proposal lists of rows with a wrong number of cells, or that cannot be read (`left_out`). */
const MOST_LEFT_OUT_LINES = 3

const ValueRule = Type.Unknown({ description: 'How the value is read, as a mapping says it.' })
const RecordPath = text('Where the value stands in the record.')

/** Proposes a mapping from the first rows of a table. The result has no values from the table but short lists of codes. */
export const proposeMapping = defineAdminFunction(
  {
    input: closed({
      of: text('Namespace of a registry, or a kind: whose records the file has.'),
      record_type: Type.Optional(text('Record type of the records (default: the first of the kind).')),
      delimiter: Type.Optional(text('The character between cells (default: found out).')),
      encoding: Type.Optional(text('The encoding of the text (default: found out).')),
    }),
    result: closed({
      kind: text('Kind of the records.'),
      record_type: text('Their record type.'),
      delimiter: text('The character between cells.'),
      encoding: text('The encoding of the text.'),
      rows: wholeNumber('Rows that were looked at.'),
      whole: flag('Whether no row comes after these.'),
      left_out: closed(
        {
          rows: wholeNumber('How many.'),
          lines: Type.Array(Type.Integer(), { description: 'The first ones.', maxItems: MOST_LEFT_OUT_LINES }),
        },
        {
          description: 'Rows that were not looked at: they have another number of cells than the header line, or cannot be read.',
        },
      ),
      columns: Type.Array(
        closed({
          column: text('Its name in the header line.'),
          state: oneOf(['mapped', 'decide', 'unmapped'] as const, {
            description: 'Proposed; left to a person, with choices; or nothing is known of it.',
          }),
          path: orNull(RecordPath),
          rule: orNull(ValueRule),
          choices: Type.Array(closed({ path: RecordPath, rule: ValueRule, meaning: text('What would be meant.') }), {
            description: 'What may be meant, for a person to decide.',
          }),
          reasons: Type.Array(Type.String(), { description: 'Why.' }),
        }),
      ),
      lacking: Type.Array(Type.String(), { description: 'What records must have and no column gives.' }),
    }),
  },
  async ({ db, source }: ProposalDeps, { of, record_type, delimiter, encoding }) => {
    const kind = await requireKind(db, of)
    const recordType = record_type === undefined ? kind.record_types[0] : resolveRecordType(kind, record_type)
    if (recordType === undefined) {
      const names = kind.record_types.map(({ name }) => name)
      const nearest = nearestNameHint(record_type ?? '', names)
      throw new AdminRefusal(`record_type: must be one of ${names.join(', ')}${nearest}`)
    }
    const asked = { ...(delimiter !== undefined && { delimiter }), ...(encoding !== undefined && { encoding }) }
    const sample = await readTableSample(source, asked)
    const columns = proposeColumns(kind, recordType, sample)
    refuseWithoutHeader(sample, columns)
    return {
      kind: kind.name,
      record_type: recordType.name,
      delimiter: sample.delimiter,
      encoding: sample.encoding,
      rows: sample.rows.length,
      whole: sample.whole,
      left_out: { rows: sample.leftOut.length, lines: sample.leftOut.slice(0, MOST_LEFT_OUT_LINES) },
      columns: columns.map((column) => ({ ...column, choices: [...column.choices], reasons: [...column.reasons] })),
      lacking: missingPrimaryAdvice(recordType.primary_identifier, recordType.name, columns),
    }
  },
)

function missingPrimaryAdvice(primary: string, recordType: string, columns: readonly ProposedColumn[]): readonly string[] {
  if (columns.some(({ path }) => path?.endsWith(`[${primary}]`))) return []
  const others = columns.flatMap(({ column, path }) => {
    const type = path === null ? undefined : /\[(\w+)\]$/.exec(path)?.[1]
    return type === undefined
      ? []
      : [
          `${column} is mapped as ${type}: if every ${recordType} has exactly one, name it with registry add --primary ${type}, or registry set --primary ${type} before the first import`,
        ]
  })
  return [
    `every ${recordType} is known by its ${primary}, and no column is mapped to it`,
    ...(others.length > 0
      ? others
      : ['if the column has another name, map it to an identifier type; rollcall identifier-type add adds one']),
  ]
}

/** Finds the kind of a registry by its namespace, or the kind of this name. @throws AdminRefusal there is neither */
export async function requireKind(db: Database | null, of: string): Promise<Kind> {
  const registry = db === null ? null : await findRegistry(db, of)
  const kind = registry?.kind ?? kindNamed(of)
  if (kind !== undefined) return kind
  const namespaces = db === null ? [] : (await listRegistries(db)).map(({ namespace }) => namespace)
  const names = [...new Set([...namespaces, ...KINDS.map(({ name }) => name)])]
  const nearest = nearestNameHint(of, names)
  throw new AdminRefusal(`there is no registry and no kind ${of}; there are ${names.join(', ')}${nearest}`)
}
