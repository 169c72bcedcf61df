/** PostgreSQL as the database of another system. */

import { RecordsUnavailable } from '@rollcall/core/model/record-source'
import type { Environment } from '../engine/address.ts'
import type { OpenEngine, SourceState } from '../engine/engine.ts'
import type { MappedPart, MappedRecords, SourceFile } from '../engine/mapped-records.ts'
import { SourceRefusal } from '../engine/source-refusal.ts'
import { type ColumnType, columnType } from './column-types.ts'
import { conditionOf, Parameters, type PartTypes } from './conditions.ts'
import { openConnections, type State } from './connections.ts'
import { holdsOnly } from './encodings.ts'
import { quoted, tableOf } from './names.ts'
import { slowLookUps } from './plans.ts'
import { readReport } from './privileges.ts'
import { type KnownTypes, rowStatement, rowsOf } from './row-statement.ts'

/** @throws SourceRefusal the address, or a file that the source names, cannot be read */
export function openPostgresql(file: SourceFile, env: Environment): OpenEngine {
  const connections = openConnections(file, env)
  const known = new Map<MappedRecords, KnownTypes>()
  const typesOf = async (state: State, records: MappedRecords): Promise<KnownTypes> => {
    const types = known.get(records) ?? (await readTypes(state, records))
    known.set(records, types)
    return types
  }
  const begin = async (): Promise<SourceState> => {
    const state = await connections.begin()
    return {
      async rows(records, asked) {
        try {
          const statement = rowStatement(records, await typesOf(state, records), asked)
          return statement === null ? [] : rowsOf(records, (await state.run(statement)).rows)
        } catch (error) {
          // The tables may be others than they were.
          if (error instanceof RecordsUnavailable) known.delete(records)
          throw error
        }
      },
      end: state.end,
    }
  }
  const within = async <Result>(work: (state: State) => Promise<Result>): Promise<Result> => {
    const state = await connections.begin()
    try {
      return await work(state)
    } finally {
      await state.end()
    }
  }
  return {
    begin,
    async bounds(records, needed) {
      const { parts } = known.get(records) ?? (await within((state) => typesOf(state, records)))
      return conditionOf(records, parts, needed, new Parameters()) !== null
    },
    isAway: connections.isAway,
    report: () => within((state) => readReport(state, file)),
    checkKey: (records) =>
      within(async (state) => {
        await typesOf(state, records)
        await checkKey(state, records)
      }),
    slow: (records, lookUps) =>
      within(async (state) => slowLookUps(state, records, await typesOf(state, records), lookUps)),
    close: connections.close,
  }
}

async function readTypes(state: State, { recordType, own, children }: MappedRecords): Promise<KnownTypes> {
  const parts: PartTypes[] = []
  let key: ColumnType | undefined
  const encoding = await state.run({ text: `select current_setting('server_encoding')`, values: [] })
  const canHold = holdsOnly(encoding.rows[0]?.[0] ?? '')
  const typeOf = (oid: number): ColumnType => {
    const type = columnType(oid)
    if (canHold === null) return type
    return { ...type, parameter: (text) => (canHold(text) ? type.parameter(text) : null) }
  }
  for (const [at, part] of [own, ...children].entries()) {
    const names = [part.key, ...part.columns]
    const alias = at === 0 ? 'own' : 'child'
    const columns = names.map((name) => `${alias}.${quoted(name)}`).join(', ')
    const { types } = await state.run({ text: `select ${columns} from ${tableOf(part, alias)} limit 0`, values: [] })
    const read = names.map((name, index): [string, ColumnType] => [name, typeOf(types[index] ?? 0)])
    parts.push(new Map(read))
    if (at === 0) key = read[0]?.[1]
  }
  if (key === undefined || !key.isKey) {
    const path = ['records', recordType.name, 'key']
    throw new SourceRefusal(
      `${path.join('.')}: ${own.key} must be a column of whole numbers, of texts or of UUIDs, and it is of another type`,
      path,
    )
  }
  return { key, parts }
}

/** @throws SourceRefusal two rows have one key, or one has none that is short enough */
async function checkKey(state: State, { recordType, own }: MappedRecords): Promise<void> {
  if (await hasUniqueKey(state, own)) return
  const key = `own.${quoted(own.key)}`
  const { rows } = await state.run({
    text: `select 1 from ${tableOf(own, 'own')} group by ${key} having count(*) > 1 or ${key} is null limit 1`,
    values: [],
  })
  if (rows.length === 0) return
  const path = ['records', recordType.name, 'key']
  throw new SourceRefusal(`${path.join('.')}: ${own.key} is the same in several rows, or missing in one`, path)
}

/** Whether the catalog has a unique index on the key alone. */
async function hasUniqueKey(state: State, { from, key }: MappedPart): Promise<boolean> {
  if ('select' in from) return false
  const { rows } = await state.run({
    text: `select 1 from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
      where indrelid = to_regclass($1) and indisunique and indisvalid and indnkeyatts = 1 and indpred is null
        and indexprs is null and attnotnull and attname = $2`,
    values: [from.schema === null ? quoted(from.table) : `${quoted(from.schema)}.${quoted(from.table)}`, key],
  })
  return rows.length > 0
}
