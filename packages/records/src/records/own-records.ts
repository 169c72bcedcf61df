/** Reads and searches the records in our own tables, not those in a source outside. */

import type { ModeName } from '@rollcall/core/model/exchange'
import { oncePerObject } from '@rollcall/core/model/once-per'
import {
  isLookUp,
  type RecordQuery,
  type RecordReader,
  type RecordSource,
  type RecordWithWriteTime,
  SearchTimeout,
} from '@rollcall/core/model/record-source'
import type { FoundPage, FoundRecord, SearchPageRequest } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { isStatementTimeout } from '@rollcall/database/database-errors'
import { createGroupCommit } from '@rollcall/database/group-commit'
import { joinNameParts, quoteName } from '@rollcall/database/names'
import type { NamedStatement, Pipeline } from '@rollcall/database/pipeline'
import type { StatementNames } from '@rollcall/database/statement-names'
import { isTextStorable } from '@rollcall/database/text'
import { runInSavepoint, type SnapshotConnection, withSnapshot } from '@rollcall/database/transaction'
import type { ClientBase, Pool, QueryResultRow } from 'pg'
import { protectionCategoriesStatement } from './protection.ts'
import { byPrimaryIdentifiersStatement, recordPageStatement } from './record-statements.ts'
import { type RecordTable, recordTable } from './record-tables.ts'
import { aliasesInRetiredRecords, type RetiredRecord, recordsMergedIntoStatement } from './retired-records.ts'
import {
  groupedLookUpsStatement,
  type LookUp,
  lookUpStatement,
  mayFindRecordSql,
  type SqlCondition,
  searchStatement,
} from './search-statement.ts'
import { predicateToSql } from './sql/to-sql.ts'

interface PreparableStatement extends Omit<NamedStatement, 'name'> {
  /** The name under which a connection prepares the statement once; without a name, it is not prepared. */
  readonly name?: string
}

type RunStatement = <Row extends QueryResultRow>(statement: PreparableStatement) => Promise<readonly Row[]>

/** The functions that run the statements of a search, and the names of prepared searches. */
interface SearchStatementRunners {
  /** Runs any statement but a look-up, such as a search by any condition. It may be slow. */
  readonly search: RunStatement
  /** Runs the look-up of one identifier, which is short and prepared. */
  readonly lookUp: (table: RecordTable, lookUp: LookUp) => Promise<readonly FoundRow[]>
  readonly names: StatementNames
}

/** The functions for searches of sync and of async requests. @param now a clock in milliseconds */
export function statementRunnersByMode(
  db: Database,
  now = (): number => performance.now(),
): Readonly<Record<ModeName, SearchStatementRunners>> {
  const lookUp = groupLookUps(db.pipeline)
  const names = db.statementNames
  return {
    sync: { search: makePoolStatementRunner(db.searches, names, now), lookUp, names },
    async: { search: makePoolStatementRunner(db.asyncSearches, names, now), lookUp, names },
  }
}

/** The most look-ups in one table that may wait for a shared statement at the same time. */
const MOST_WAITING_LOOK_UPS = 10_000
/**
 * The most look-ups in one statement. The limit is low, so that no look-up waits long for the others. Each of them reads at most
 * one record more than its cap (`SearchPageRequest.cap`).
 */
const MOST_LOOK_UPS_PER_STATEMENT = 32

/** Look-ups in a table that come while a statement runs, or in one turn of the event loop, share the next statement. */
function groupLookUps(pipeline: Pipeline): SearchStatementRunners['lookUp'] {
  const groupOf = oncePerObject((table: RecordTable) =>
    createGroupCommit<LookUp, readonly FoundRow[]>(
      async (asked) => {
        const [only, second] = asked
        if (only !== undefined && second === undefined) {
          return [await pipeline.query<FoundRow>(lookUpStatement(table, only.identifier, only.page))]
        }
        const rows = await pipeline.query<FoundRow & { readonly number: number }>(groupedLookUpsStatement(table, asked))
        const found = Map.groupBy(rows, ({ number }) => number)
        return asked.map((_, at) => found.get(at + 1) ?? [])
      },
      { waiting: MOST_WAITING_LOOK_UPS, together: MOST_LOOK_UPS_PER_STATEMENT, failWaiting: true },
    ),
  )
  return (table, lookUp) => groupOf(table).submit(lookUp)
}

/** The records in our own tables, as a source that reads and searches them. */
export function recordSourceOfOwnTables(db: Database): RecordSource {
  const { sync, async } = statementRunnersByMode(db)
  const readers = { sync: makeRecordReader(sync), async: makeRecordReader(async) }
  return {
    reader: (mode) => readers[mode],
    session: (work) =>
      withSnapshot(db, (snapshot) => {
        const run = makeClientStatementRunner(snapshot, sync.names)
        return work(
          makeRecordReader({
            search: (statement) => runInSavepoint(snapshot, () => run(statement)),
            lookUp: makeUngroupedLookUp(run),
            names: sync.names,
          }),
        )
      }),
  }
}

/** Milliseconds. A prepared search that takes longer is noted as slow: PostgreSQL's generic plan for it may be bad. */
const SLOW_SEARCH_MS = 100

/** Returns a function that runs statements on a connection, and measures their time without the wait for the connection. */
const makeClientStatementRunner =
  (client: SnapshotConnection, names: StatementNames, now = (): number => performance.now()): RunStatement =>
  async <Row extends QueryResultRow>({ values, ...statement }: PreparableStatement) => {
    names.runs(client, statement.name)
    const started = now()
    try {
      return (await client.query<Row>({ ...statement, values: [...values] })).rows
    } finally {
      if (statement.name !== undefined && now() - started > SLOW_SEARCH_MS) names.wasSlow(statement.text)
    }
  }

/**
 * Returns a function that runs each statement on a connection of the pool. It closes the connection after a failure, or when the
 * connection has prepared too many statements.
 */
const makePoolStatementRunner =
  (pool: Pool, names: StatementNames, now: () => number): RunStatement =>
  async <Row extends QueryResultRow>(statement: PreparableStatement) => {
    const client = await pool.connect()
    let failed = true
    try {
      const rows = await makeClientStatementRunner(client, names, now)<Row>(statement)
      failed = false
      return rows
    } finally {
      client.release(failed || names.isFull(client))
    }
  }

/** Returns a reader that reads records as a transaction sees them, on the transaction's connection. */
export function readerInTransaction(client: Pick<ClientBase, 'query'>, names: StatementNames): RecordReader {
  const run: RunStatement = async <Row extends QueryResultRow>({ values, ...statement }: PreparableStatement) =>
    (await client.query<Row>({ ...statement, values: [...values] })).rows
  return makeRecordReader({ search: run, lookUp: makeUngroupedLookUp(run), names })
}

/** Returns a function that runs each look-up as a statement of its own, not together with others. */
const makeUngroupedLookUp =
  (run: RunStatement): SearchStatementRunners['lookUp'] =>
  (table, { identifier, page }) =>
    run<FoundRow>(lookUpStatement(table, identifier, page))

function makeRecordReader(connections: SearchStatementRunners): RecordReader {
  return {
    async find(registry, query) {
      try {
        return await findPage(connections, registry, query)
      } catch (error) {
        throw isStatementTimeout(error) ? new SearchTimeout(error) : error
      }
    },
    async read(registry, recordType, ids, categories = []) {
      const shape = recordTable(registry, recordType)
      const { table } = shape
      return connections.search<FoundRecord>({
        name: joinNameParts('documents', table),
        text: `select id::text as id, document from unnest($1::bigint[]) with ordinality as wanted (id, position)
          join ${quoteName(table)} using (id) where ${mayFindRecordSql(shape, 'id', '$2')} order by position`,
        values: [ids, categories],
      })
    },
    async merged(registry, recordType, ids) {
      if (ids.length === 0) return new Map()
      const rows = await connections.search<RetiredRecord>(recordsMergedIntoStatement(registry, recordType, ids))
      const found = Map.groupBy(rows, ({ survivor }) => survivor)
      return new Map([...found].map(([id, those]) => [id, those.map(({ record, document }) => ({ id: record, document }))]))
    },
    async named(registry, recordType, identifiers) {
      if (identifiers.length === 0) return []
      const found = await connections.search<FoundRecord>(byPrimaryIdentifiersStatement(registry, recordType, identifiers))
      if (found.length === 0) return []
      const ids = found.map(({ id }) => id)
      const retired = await connections.search<RetiredRecord>(recordsMergedIntoStatement(registry, recordType, ids))
      const aliases = aliasesInRetiredRecords(registry.kind, recordType, retired)
      return found.map((record) => ({ ...record, aliases: aliases.get(record.id) ?? [] }))
    },
    async categories(registry, { name }, ids) {
      if (ids.length === 0) return new Map()
      const rows = await connections.search<{ record: string; categories: readonly string[] }>(
        protectionCategoriesStatement(registry, name, ids),
      )
      return new Map(rows.map(({ record, categories }) => [record, categories]))
    },
    async count(registry, recordType) {
      const text = `select count(*) as count from ${quoteName(recordTable(registry, recordType).table)}`
      const [row] = await connections.search<{ count: number }>({ text, values: [] })
      return row?.count ?? 0
    },
    page: (registry, query) => connections.search<RecordWithWriteTime>(recordPageStatement(registry, query)),
  }
}

/** Finds records by the short look-up statement where the query allows it, else by a search. */
async function findPage(connections: SearchStatementRunners, registry: RegistryShape, query: RecordQuery): Promise<FoundPage> {
  const { recordType, predicate, page, participant } = query
  const table = recordTable(registry, recordType)
  const [identifier] = predicate.is === 'identifier' && isLookUp(query) ? predicate.identifiers : []
  if (identifier === undefined)
    return findMatchingRecords(connections, table, predicateToSql(predicate, table), page, participant)
  if (!isTextStorable(identifier.type) || !isTextStorable(identifier.value)) return toFoundPage([])
  return toFoundPage(await connections.lookUp(table, { identifier, page }))
}

/**
 * A row that a search returns. Every row has the total number of hits. The first row also has the ids of all hits; `ids` is null
 * in the others, and when there are more hits than `SearchPageRequest.ids`. A page after the last one is a single row with the
 * total and no record.
 */
interface FoundRow {
  readonly total: number
  readonly id: number | null
  readonly document: string | null
  /** Missing in a statement that does not ask for ids. */
  readonly ids?: readonly number[] | null
}

/**
 * Finds the records that satisfy a condition, in one statement that stops after one record more than the cap.
 * @param participant the id of the participant who searches, or 0 for the operator: each has a share of the statement names
 */
export async function findMatchingRecords(
  { search, names }: SearchStatementRunners,
  table: RecordTable,
  condition: SqlCondition,
  page: SearchPageRequest,
  participant = 0,
): Promise<FoundPage> {
  const { text, values } = searchStatement(table, condition, page)
  const name = names.nameOf(text, participant)
  return toFoundPage(await search<FoundRow>({ ...(name !== undefined && { name }), text, values }))
}

function toFoundPage(rows: readonly FoundRow[]): FoundPage {
  const [first] = rows
  const records = rows.flatMap(({ id, document }) => (id === null || document === null ? [] : [{ id: String(id), document }]))
  return { total: first?.total ?? 0, records, ids: first?.ids?.map(String) ?? [] }
}
