/** The schema of a source file (docs/sources.md). */

import { ColumnMappingFile } from '@rollcall/import/column-mapping'
import { oneOf } from '@rollcall/protocol'
import Type, { type Static } from 'typebox'
import { COLUMN_COMPARISON_NAMES } from './engine/comparison-names.ts'
import { FOLLOW_WAYS } from './engine/follow-ways.ts'

const closedObjectOptions = { additionalProperties: false } as const
const textSchema = (description: string) => Type.String({ minLength: 1, description })

const AddressSchema = Type.Union(
  [
    Type.Object({ env: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }) }, closedObjectOptions),
    Type.Object({ file: Type.String({ pattern: '^/' }) }, closedObjectOptions),
  ],
  {
    description:
      'Where the address of the database is, as a URL: the environment variable of this name, or the file at this absolute path. The address has a password and never stands in this file.',
  },
)

const ColumnsSchema = ColumnMappingFile

const FromSchema = textSchema('Table or view, with its schema, such as office.person; names are as the catalog has them.')
const SelectSchema = textSchema('A query in place of a table. It must have a name for each column.')
const WhereSchema = textSchema('Condition in SQL of the rows that count, such as removed_at is null.')

const ChangedColumnSchema = textSchema(
  'For follow: poll, the column that grows with every change of a row: a time, or a whole number such as a version.',
)

const LoggedTablesSchema = Type.Array(
  Type.Object({ from: FromSchema, on: textSchema('Column with the key of the record.') }, closedObjectOptions),
  {
    minItems: 1,
    description:
      'With follow: logical, the tables that a view or a query reads: a change of a row is a change of the record with the key in this column.',
  },
)

const ChildTableSchema = Type.Object(
  {
    from: Type.Optional(FromSchema),
    select: Type.Optional(SelectSchema),
    on: textSchema('Column with the key of the record to which a row belongs.'),
    where: Type.Optional(WhereSchema),
    changed: Type.Optional(ChangedColumnSchema),
    tables: Type.Optional(LoggedTablesSchema),
    columns: ColumnsSchema,
  },
  { ...closedObjectOptions, description: 'A table that may have several rows for one record.' },
)

const RecordsSchema = Type.Object(
  {
    from: Type.Optional(FromSchema),
    select: Type.Optional(SelectSchema),
    key: textSchema('Column that identifies a row: a whole number, a text of at most 64 bytes, or a UUID.'),
    where: Type.Optional(WhereSchema),
    changed: Type.Optional(ChangedColumnSchema),
    tables: Type.Optional(LoggedTablesSchema),
    columns: ColumnsSchema,
    children: Type.Optional(Type.Array(ChildTableSchema)),
    compare: Type.Optional(
      Type.Record(Type.String(), oneOf(COLUMN_COMPARISON_NAMES), {
        description:
          'By attribute or identifier type, how its column compares. An attribute without it can be seen and not asked about; identifiers compare exactly.',
      }),
    ),
  },
  closedObjectOptions,
)

/** The values of `events` in a source file: which changes of copied records are events. */
export const EVENTS_SETTING_VALUES = ['none', 'changes'] as const

const PollSchema = Type.Object(
  {
    every: Type.Optional(Type.Number({ minimum: 0.1, maximum: 3_600, description: 'Seconds between two looks (default: 1).' })),
    overlap: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000,
        description:
          'Seconds, or versions, before the last poll that the next poll reads again (default: 60). It must exceed the longest transaction: its rows have the time at which it began.',
      }),
    ),
  },
  { ...closedObjectOptions, description: 'Of follow: poll.' },
)

/** The settings of `follow: logical`: the mirror follows the log of PostgreSQL by logical decoding. */
const LogicalDecodingSchema = Type.Object(
  {
    publication: Type.Optional(textSchema('The publication of the tables, which the administrator makes (default: rollcall).')),
    most_log: Type.Optional(
      Type.Integer({
        minimum: 16,
        maximum: 1_048_576,
        description:
          'Megabytes of its log that the source may keep for Rollcall (default: 1024). Beyond them Rollcall gives its place up, and compares all records.',
      }),
    ),
  },
  { ...closedObjectOptions, description: 'Of follow: logical.' },
)

export const SourceFileSchema = Type.Object(
  {
    engine: textSchema('The engine of the database: postgresql, mariadb or mysql.'),
    url: AddressSchema,
    way: textSchema(
      'live: each question is a query of this database, and nothing is copied; mirror: a copy of its records follows it.',
    ),
    follow: Type.Optional(textSchema(`Of a mirror: how it finds changes: ${FOLLOW_WAYS.join(', ')}.`)),
    events: Type.Optional(
      oneOf(EVENTS_SETTING_VALUES, {
        description:
          'Of a mirror: whether changes are events that subscribers are notified of (default: changes). The first load is none.',
      }),
    ),
    compare: Type.Optional(
      Type.String({
        pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
        description:
          'Of a mirror: the time of the day, in time_zone, at which all records are compared (default: 03:00). The comparison finds rows that are gone, and changes that nothing tells of.',
      }),
    ),
    poll: Type.Optional(PollSchema),
    logical: Type.Optional(LogicalDecodingSchema),
    tls: Type.Optional(
      Type.Object(
        { ca: Type.String({ pattern: '^/', description: 'Absolute path of the certificates that may sign its own.' }) },
        { ...closedObjectOptions, description: 'The connection is encrypted, and the certificate of the database is verified.' },
      ),
    ),
    pool: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Connections of a node at a time (default: 8).' })),
    statement_timeout: Type.Optional(
      Type.Number({ minimum: 0.1, maximum: 60, description: 'Seconds that a statement may take (default: 2).' }),
    ),
    candidates: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 100_000,
        description: 'Rows that a search may read; a search that needs more is rejected (default: 10000).',
      }),
    ),
    time_zone: Type.Optional(
      textSchema('IANA name of the time zone of times without a zone, and of the days of times with one (default: UTC).'),
    ),
    records: Type.Record(Type.String(), RecordsSchema, {
      minProperties: 1,
      description: 'By record type, where its records are.',
    }),
  },
  { ...closedObjectOptions, description: 'Where the records of a registry are, in the database of another system.' },
)
/** A source file as the operator wrote it. It fits the schema; nothing else is checked yet. */
export type GivenSourceFile = Static<typeof SourceFileSchema>
export type GivenRecordMapping = Static<typeof RecordsSchema>
export type GivenChild = Static<typeof ChildTableSchema>
