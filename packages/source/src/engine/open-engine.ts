/** Opens an engine from its dialect and its connections. This code is the same for all databases. */

import { RecordsUnavailable } from '@rollcall/core/model/record-source'
import { createRowReader } from '@rollcall/import/row-documents'
import { type CatalogTable, readCatalog } from './catalog.ts'
import type { ChangeLog } from './change-log.ts'
import type { RecordColumnTypes } from './column-type.ts'
import { type Connections, type DatabaseSnapshot, type RunInSnapshot, withSnapshot } from './connections.ts'
import type { Dialect, PollColumnTypes } from './dialect.ts'
import type { OpenEngine, SourceSnapshot } from './engine.ts'
import type { MappedTable, RecordMapping, SourceFile } from './mapped-records.ts'
import { readSourceRows, rowStatement } from './row-statement.ts'
import { findSlowLookUps } from './slow-look-ups.ts'
import { makeRefusal, SourceRefusal } from './source-refusal.ts'

/** Makes the engine of a source file. @param openLog opens the log of changes; `inSnapshot` runs work in a snapshot */
export function createEngine<Type>(
  file: SourceFile,
  dialect: Dialect<Type>,
  connections: Connections<Type>,
  openLog: (inSnapshot: RunInSnapshot<Type>, name: string) => ChangeLog,
): OpenEngine {
  const known = new Map<RecordMapping, RecordColumnTypes>()
  const typesOf = async (state: DatabaseSnapshot<Type>, records: RecordMapping): Promise<RecordColumnTypes> => {
    const types = known.get(records) ?? (await readTypes(file, dialect, state, records))
    known.set(records, types)
    return types
  }
  const knownChanges = new Map<MappedTable, PollColumnTypes>()
  const changeTypesOf = async (state: DatabaseSnapshot<Type>, part: MappedTable): Promise<PollColumnTypes> => {
    const types = knownChanges.get(part) ?? (await readPollColumnTypes(file, dialect, state, part))
    knownChanges.set(part, types)
    return types
  }
  const begin = async (): Promise<SourceSnapshot> => {
    const state = await connections.begin()
    return {
      async rows(records, asked) {
        try {
          const types = await typesOf(state, records)
          const statement = rowStatement(dialect.rows, records, types, asked)
          return statement === null ? [] : readSourceRows(dialect.rows, records, types, (await state.run(statement, asked)).rows)
        } catch (error) {
          // The next call reads the column types again, because tables may have changed.
          if (error instanceof RecordsUnavailable) known.delete(records)
          throw error
        }
      },
      async mark(part) {
        const statement = dialect.changes.mark(part, await changeTypesOf(state, part))
        return (await state.run(statement)).rows[0]?.[0] ?? '0'
      },
      async changes(part, asked) {
        const statement = dialect.changes.list(part, await changeTypesOf(state, part), asked)
        const { rows } = await state.run(statement)
        return rows.map(([key, mark]) => ({ key: key ?? '', mark: mark ?? '' }))
      },
      end: state.end,
    }
  }
  const inSnapshot: RunInSnapshot<Type> = (work) => withSnapshot(connections.begin, work)
  const { parameters, conditions } = dialect.rows
  return {
    begin,
    async bounds(records, needed) {
      const { parts } = known.get(records) ?? (await inSnapshot((state) => typesOf(state, records)))
      return conditions.conditionOf(records, parts, needed, parameters()) !== null
    },
    isAway: connections.isAway,
    report: () => inSnapshot((state) => dialect.report(state, file)),
    log: (name) => openLog(inSnapshot, name),
    checkKey: (records) =>
      inSnapshot(async (state) => {
        await typesOf(state, records)
        await checkKey(dialect, state, records)
      }),
    slow: (records, lookUps) =>
      inSnapshot(async (state) => findSlowLookUps(dialect, state, records, await typesOf(state, records), lookUps)),
    catalog: () => inSnapshot((state) => readCatalog(state, dialect.catalog)),
    sample: (table, columns, limit) => inSnapshot((state) => readSample(file, dialect, state, { place: table, columns, limit })),
    quoted: dialect.rows.names.quoted,
    failureOf: dialect.failureOf,
    close: connections.close,
  }
}

/** The most characters of a value in a sample. */
const MOST_SAMPLE_CHARACTERS = 200

/** The table and columns to read a sample of, and the most rows. */
interface SampleRequest {
  readonly place: Pick<CatalogTable, 'schema' | 'name'>
  readonly columns: readonly string[]
  readonly limit: number
}

async function readSample<Type>(
  file: SourceFile,
  { readTypes: typesOf, rows: sql }: Dialect<Type>,
  state: DatabaseSnapshot<Type>,
  { place: { schema, name }, columns, limit }: SampleRequest,
): Promise<readonly (readonly string[])[]> {
  const [first] = columns
  if (first === undefined) return []
  const from = { schema, table: name }
  const shared = { where: null, changed: null, logged: [], targets: [], reader: createRowReader(EMPTY_COLUMN_MAPPING, []) }
  const part = { ...shared, from, key: first, columns }
  const [[, ...types] = []] = await typesOf(state, [part], file)
  const cells = columns.map((column, at) => {
    const value = `own.${sql.names.quoted(column)}`
    return `left(${types[at]?.read(value) ?? value}, ${MOST_SAMPLE_CHARACTERS})`
  })
  const parameters = sql.parameters()
  const { rows } = await state.run({
    text: `select ${cells.join(', ')} from ${sql.names.tableOf(part, 'own')} limit ${sql.limit(limit, parameters)}`,
    values: parameters.values,
  })
  return rows.map((row) => row.map((value, at) => (value === null ? '' : (types[at]?.cell?.(value) ?? value))))
}

/** A mapping of no column: the values of a sample are not read as records. */
const EMPTY_COLUMN_MAPPING = { targets: [], duplicates: null }

/**
 * Reads the types of the key and of the column of changes.
 * @throws SourceRefusal the column of changes is neither a time nor a whole number
 */
async function readPollColumnTypes<Type>(
  file: SourceFile,
  { readTypes: typesOf }: Dialect<Type>,
  state: DatabaseSnapshot<Type>,
  part: MappedTable,
): Promise<PollColumnTypes> {
  const columns = part.changed === null ? [] : [part.changed]
  const [[key, changed] = []] = await typesOf(state, [{ ...part, where: null, columns }], file)
  if (key === undefined || changed === undefined || !['instant', 'integer'].includes(changed.holds)) {
    throw new SourceRefusal(`changed: ${part.changed} must be a column of times or of whole numbers`)
  }
  return { key, changed }
}

/**
 * Reads the types of the key and of the columns of records.
 * @throws SourceRefusal a key has a type that keys may not have, or another type than in the children
 */
async function readTypes<Type>(
  file: SourceFile,
  dialect: Dialect<Type>,
  state: DatabaseSnapshot<Type>,
  { recordType, own, children }: RecordMapping,
): Promise<RecordColumnTypes> {
  const parts = [own, ...children]
  const types = await dialect.readTypes(state, parts, file)
  const keys = types.map(([key]) => key)
  const [key] = keys
  const path = ['records', recordType.name]
  if (key === undefined || !key.isKey) {
    throw makeRefusal(
      [...path, 'key'],
      `${own.key} must be a column of whole numbers, of texts or of UUIDs, and it is of another type`,
    )
  }
  // If a database compared keys of different types, such as numbers with texts, one row could belong to several records.
  const other = keys.findIndex((one) => one?.holds !== key.holds)
  if (other !== -1) {
    throw makeRefusal(
      [...path, 'children', other - 1, 'on'],
      `${parts[other]?.key} must have the type of the key ${own.key}, and it has another one`,
    )
  }
  return {
    key,
    parts: parts.map((part, at) => new Map([part.key, ...part.columns].map((name, index) => [name, types[at]?.[index] ?? key]))),
  }
}

/** Checks that keys are unique. @throws SourceRefusal two rows have one key, or a row has none */
async function checkKey<Type>(
  { hasUniqueKey, rows: { names } }: Dialect<Type>,
  state: DatabaseSnapshot<Type>,
  { recordType, own }: RecordMapping,
): Promise<void> {
  if (await hasUniqueKey(state, own)) return
  const key = `own.${names.quoted(own.key)}`
  const { rows } = await state.run({
    text: `select 1 from ${names.tableOf(own, 'own')} group by ${key} having count(*) > 1 or ${key} is null limit 1`,
    values: [],
  })
  if (rows.length === 0) return
  throw makeRefusal(['records', recordType.name, 'key'], `${own.key} is the same in several rows, or missing in one`)
}
