/** Finds the look-ups that would read a whole table, and the index that each lacks. */

import type { RecordColumnTypes } from './column-type.ts'
import { NO_ROW_CONDITION } from './conditions.ts'
import type { DatabaseSnapshot } from './connections.ts'
import type { ColumnTestAndType, Dialect } from './dialect.ts'
import type { ColumnLookUp, SlowLookUp } from './engine.ts'
import type { MappedTable, RecordMapping } from './mapped-records.ts'

/** Keys for plans: one of a whole number or a text, one of a UUID. A plan does not depend on the value of the key. */
const EXAMPLE_KEYS = ['1', '00000000-0000-0000-0000-000000000000']

/**
 * Finds slow look-ups by their plans: among the given ones, and the look-up of the rows that each child has for one record. A
 * small table is read as a whole even if there is an index, so a look-up counts as slow only when it could use no index.
 */
export async function findSlowLookUps<Type>(
  { rows: { names, conditions, parameters }, plans }: Dialect<Type>,
  state: DatabaseSnapshot<Type>,
  records: RecordMapping,
  { parts }: RecordColumnTypes,
  lookUps: readonly ColumnLookUp[],
): Promise<readonly SlowLookUp[]> {
  if (plans.prefer !== null) await state.run({ text: plans.prefer, values: [] })
  const readsAll = async (part: MappedTable, condition: string, values: readonly unknown[]): Promise<boolean> => {
    const text = `${plans.explain} select 1 from ${names.tableOf(part, 'one')} where ${condition}`
    return plans.readsAll(await state.run({ text, values }))
  }
  const slow: SlowLookUp[] = []
  const add = (name: string, { from }: MappedTable, column: string, asked: ColumnTestAndType | null): void => {
    if ('select' in from) slow.push({ name, table: 'a select of the file', index: null })
    else slow.push({ name, table: qualifiedTableName(from), index: plans.indexOn(from, column, asked) })
  }
  for (const { name, needed } of lookUps) {
    const { part, target } = needed.column
    const column = target.column?.trim() ?? ''
    const type = parts[[records.own, ...records.children].indexOf(part)]?.get(column)
    const collected = parameters()
    const condition = conditions.columnCondition(records, parts, needed, 'one', collected)
    if (condition === null || condition === NO_ROW_CONDITION || type === undefined) continue
    if (await readsAll(part, condition, collected.values)) add(name, part, column, { test: needed.test, type })
  }
  for (const [at, child] of records.children.entries()) {
    const type = parts[at + 1]?.get(child.key)
    const key = EXAMPLE_KEYS.find((one) => type?.parameter(one) === one)
    if (type === undefined || key === undefined) continue
    const collected = parameters()
    const condition = `one.${names.quoted(child.key)} = ${collected.add(key, type.sql)}`
    if (await readsAll(child, condition, collected.values)) add('the rows of one record', child, child.key, null)
  }
  return slow
}

const qualifiedTableName = ({ schema, table }: { readonly schema: string | null; readonly table: string }): string =>
  schema === null ? table : `${schema}.${table}`
