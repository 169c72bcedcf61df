/** Proposes a source file from the catalog of a database, for review. */

import { checkEngine } from '@rollcall/source/engine/engine-names'
import { openEngine } from '@rollcall/source/engines'
import { proposeSource as propose } from '@rollcall/source/propose-source'
import { undecidedMemberLines, writeProposedText } from '@rollcall/source/proposed-text'
import Type from 'typebox'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { closed, flag, text, wholeNumber } from '../members.ts'
import { requireKind } from './mapping-proposal.ts'
import { checkSourceAccountReadsOnly, convertSourceRefusals, type SourceDeps } from './source-check.ts'

/** The number of connections to the database that is proposed as a source. */
const POOL_SIZE = 1
/** Milliseconds after which a statement is stopped: reading a view may take longer than a search. */
const MOST_QUERY_MS = 10_000

/** Reads the catalog and the first rows of tables. The result names tables and columns, and has no values but codes. */
export const proposeSource = defineAdminFunction(
  {
    input: closed({
      of: text('Namespace of a registry, or a kind: whose records the database has.'),
      engine: text('The engine of the database: postgresql, mariadb or mysql.'),
      url_env: Type.Optional(text('The environment variable with the address of the database.')),
      url_file: Type.Optional(text('The absolute path of the file with the address of the database.')),
      tables: Type.Optional(
        Type.Record(Type.String(), Type.String(), {
          description:
            'By record type, the table with its records; an empty name is the first record type (default: found by the names of columns).',
        }),
      ),
      allow_writer: Type.Optional(flag('Its account may write: for a trial, and never for people.')),
    }),
    result: closed({
      file: text('The proposed source file, in YAML.'),
      columns: wholeNumber('Columns that are mapped.'),
      decide: Type.Array(Type.String(), { description: 'What is left to a person, as sentences.' }),
    }),
  },
  async ({ db, env = process.env }: SourceDeps, { of, engine: name, url_env, url_file, tables = {}, allow_writer }) => {
    const kind = await requireKind(db, of)
    if ((url_env === undefined) === (url_file === undefined)) {
      throw new AdminRefusal('url: give url_env or url_file, which say where the address of the database is')
    }
    const named = Object.entries(tables).map(([type, table]) => [type || kind.record_types[0].name, table] as const)
    const url = url_env === undefined ? { file: url_file ?? '' } : { env: url_env }
    return convertSourceRefusals(async () => {
      const limits = { pool: POOL_SIZE, statementTimeout: MOST_QUERY_MS, candidates: 0, timeZone: 'UTC', ca: null, mirror: null }
      const file = { engine: checkEngine(name), url, ...limits, records: new Map() }
      const engine = openEngine(file, env)
      try {
        if (!allow_writer) checkSourceAccountReadsOnly(await engine.report())
        const records = await propose(kind, file, engine, new Map(named))
        const members = records.flatMap(({ own, children }) => [own, ...children].flatMap(({ columns }) => columns))
        return {
          file: writeProposedText(of, file, records),
          columns: members.filter(({ value }) => value !== null).length,
          decide: [...undecidedMemberLines(records)],
        }
      } finally {
        await engine.close()
      }
    })
  },
)
