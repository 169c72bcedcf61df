/** Which questions would read a whole table, and the index that each lacks. */

import type { KnownTypes } from '../engine/column-type.ts'
import type { LookUp, SlowLookUp } from '../engine/engine.ts'
import type { MappedPart, MappedRecords } from '../engine/mapped-records.ts'
import { columnCondition, parameters } from './conditions.ts'
import type { State } from './connections.ts'
import { NAMES } from './names.ts'

/**
 * Finds the slow look-ups. The plan of a small table reads it as a whole even if there is an index, so a look-up is
 * slow only if no index could be used.
 */
export async function slowLookUps(
  state: State,
  records: MappedRecords,
  { parts }: KnownTypes,
  lookUps: readonly LookUp[],
): Promise<readonly SlowLookUp[]> {
  const slow: SlowLookUp[] = []
  for (const { name, needed } of lookUps) {
    const { part, target } = needed.column
    const collected = parameters()
    const condition = columnCondition(records, parts, needed, 'one', collected)
    if (condition === null || condition === 'false') continue
    if (await readsAll(state, part, condition, collected.values)) {
      // MariaDB has no index on an expression; a generated column can have one.
      const column = needed.test.is === 'digits' ? null : (target.column?.trim() ?? '')
      slow.push({ name, ...indexOn(part, column) })
    }
  }
  for (const [at, child] of records.children.entries()) {
    const type = parts[at + 1]?.get(child.key)
    const key = ANY_KEYS.find((one) => type?.parameter(one) === one)
    if (type === undefined || key === undefined) continue
    const collected = parameters()
    const condition = `one.${NAMES.quoted(child.key)} = ${collected.add(key, type.sql)}`
    if (await readsAll(state, child, condition, collected.values)) {
      slow.push({ name: 'the rows of one record', ...indexOn(child, child.key) })
    }
  }
  return slow
}

/** A key of each type, for plans, which do not depend on the value. */
const ANY_KEYS = ['1', '00000000-0000-0000-0000-000000000000']

/** Whether a plan reads a whole table. The columns of a plan differ between servers. */
async function readsAll(
  state: State,
  part: MappedPart,
  condition: string,
  values: readonly unknown[],
): Promise<boolean> {
  const text = `explain select 1 from ${NAMES.tableOf(part, 'one')} where ${condition}`
  const { rows, names } = await state.run({ text, values })
  const [access, usable, table] = ['type', 'possible_keys', 'table'].map((name) => names.indexOf(name))
  return rows.some(
    (row) =>
      /^(?:ALL|index)$/.test(row[access ?? -1] ?? '') &&
      (row[usable ?? -1] ?? null) === null &&
      // This row is a subquery; its tables have rows of their own.
      !(row[table ?? -1] ?? '').startsWith('<'),
  )
}

const indexOn = ({ from }: MappedPart, column: string | null): Pick<SlowLookUp, 'table' | 'index'> => {
  if ('select' in from) return { table: 'a select of the file', index: null }
  const table = from.schema === null ? from.table : `${from.schema}.${from.table}`
  return {
    table,
    index:
      column === null
        ? null
        : `create index ${NAMES.quoted(`rollcall_${column}`)} on ${NAMES.placeOf(from)} (${NAMES.quoted(column)});`,
  }
}
