/** The schema of a source file (docs/sources.md). */

import { ColumnMappingFile } from '@rollcall/import/column-mapping'
import { oneOf } from '@rollcall/protocol'
import Type, { type Static } from 'typebox'
import { COMPARISON_NAMES } from './engine/comparison-names.ts'

const closed = { additionalProperties: false } as const
const Text = (description: string) => Type.String({ minLength: 1, description })

const Address = Type.Union(
  [
    Type.Object({ env: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }) }, closed),
    Type.Object({ file: Type.String({ pattern: '^/' }) }, closed),
  ],
  {
    description:
      'Where the address of the database is, as a URL: the environment variable of this name, or the file at this absolute path. The address has a password and never stands in this file.',
  },
)

const Columns = ColumnMappingFile

const From = Text('Table or view, with its schema, such as office.person; names are as the catalog has them.')
const Select = Text('A query in place of a table. It must have a name for each column.')
const Where = Text('Condition in SQL of the rows that count, such as removed_at is null.')

const Child = Type.Object(
  {
    from: Type.Optional(From),
    select: Type.Optional(Select),
    on: Text('Column with the key of the record to which a row belongs.'),
    where: Type.Optional(Where),
    columns: Columns,
  },
  { ...closed, description: 'A table that may have several rows for one record.' },
)

const Records = Type.Object(
  {
    from: Type.Optional(From),
    select: Type.Optional(Select),
    key: Text('Column that identifies a row: a whole number, a text of at most 64 bytes, or a UUID.'),
    where: Type.Optional(Where),
    columns: Columns,
    children: Type.Optional(Type.Array(Child)),
    compare: Type.Optional(
      Type.Record(Type.String(), oneOf(COMPARISON_NAMES), {
        description:
          'By attribute or identifier type, how its column compares. An attribute without it can be seen and not asked about; identifiers compare exactly.',
      }),
    ),
  },
  closed,
)

export const SourceFileSchema = Type.Object(
  {
    engine: Text('The engine of the database: postgresql, mariadb or mysql.'),
    url: Address,
    way: Text('live: each question is a query of this database, and nothing is copied.'),
    tls: Type.Optional(
      Type.Object(
        { ca: Type.String({ pattern: '^/', description: 'Absolute path of the certificates that may sign its own.' }) },
        { ...closed, description: 'The connection is encrypted, and the certificate of the database is verified.' },
      ),
    ),
    pool: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'Connections of a node at a time (default: 8).' }),
    ),
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
      Text('IANA name of the time zone of times without a zone, and of the days of times with one (default: UTC).'),
    ),
    records: Type.Record(Type.String(), Records, {
      minProperties: 1,
      description: 'By record type, where its records are.',
    }),
  },
  { ...closed, description: 'Where the records of a registry are, in the database of another system.' },
)
export type GivenSource = Static<typeof SourceFileSchema>
export type GivenRecords = Static<typeof Records>
export type GivenChild = Static<typeof Child>
