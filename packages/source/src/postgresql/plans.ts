/** Which questions would read a whole table, and the index that each lacks. */

import type { ColumnTest } from '../engine/column-test.ts'
import type { KnownTypes, PartTypes } from '../engine/column-type.ts'
import type { LookUp, SlowLookUp } from '../engine/engine.ts'
import type { MappedPart, MappedRecords } from '../engine/mapped-records.ts'
import { askedExpression, columnCondition, parameters as newParameters } from './conditions.ts'
import type { State } from './connections.ts'
import { placeOf, quoted, tableOf } from './names.ts'

interface Plan {
  readonly 'Node Type': string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly Plan[]
}

/** A small table is read as a whole even if there is an index; this makes the planner prefer the index. */
const NO_SCAN = 'set local enable_seqscan = off'

/** Finds slow look-ups. Indexes are preferred, so a plan that reads a whole table has none to use. */
export async function slowLookUps(
  state: State,
  records: MappedRecords,
  { parts }: KnownTypes,
  lookUps: readonly LookUp[],
): Promise<readonly SlowLookUp[]> {
  await state.run({ text: NO_SCAN, values: [] })
  const slow: SlowLookUp[] = []
  for (const { name, needed } of lookUps) {
    const { part, target } = needed.column
    const types = parts[[records.own, ...records.children].indexOf(part)]
    const parameters = newParameters()
    const condition = columnCondition(records, parts, needed, 'one', parameters)
    if (condition === null || condition === 'false') continue
    if (await readsAll(state, part, condition, parameters.values)) {
      slow.push({ name, ...indexOn(part, expressionOf(needed.test, target.column?.trim() ?? '', types)) })
    }
  }
  for (const child of records.children) {
    const key = `one.${quoted(child.key)}`
    const column = quoted(child.key)
    const first = `(select ${column} from ${tableOf(child, 'first')} limit 1)`
    if (await readsAll(state, child, `${key} = ${first}`, [], 1)) {
      slow.push({ name: 'the rows of one record', ...indexOn(child, column) })
    }
  }
  return slow
}

/** Whether the plan reads more whole tables or indexes than `allowed`. */
async function readsAll(
  state: State,
  part: MappedPart,
  condition: string,
  values: readonly unknown[],
  allowed = 0,
): Promise<boolean> {
  const text = `explain (format json) select 1 from ${tableOf(part, 'one')} where ${condition}`
  const { rows } = await state.run({ text, values })
  const [{ Plan: plan }] = JSON.parse(rows[0]?.[0] ?? '[{}]') as [{ Plan: Plan }]
  const count = (node: Plan): number =>
    (isWhole(node) ? 1 : 0) + (node.Plans ?? []).reduce((sum, next) => sum + count(next), 0)
  return count(plan) > allowed
}

/** Whether a node reads a whole table, or a whole index without a condition. */
const isWhole = (node: Plan): boolean => {
  const type = node['Node Type']
  return type === 'Seq Scan' || (/^Index (?:Only )?Scan$/.test(type) && node['Index Cond'] === undefined)
}

const indexOn = (part: MappedPart, expression: string): Pick<SlowLookUp, 'table' | 'index'> => ({
  table: nameOf(part),
  index: statementOf(part, expression),
})

function expressionOf(test: ColumnTest, name: string, types: PartTypes | undefined): string {
  const type = types?.get(name)
  const asked = type === undefined ? quoted(name) : askedExpression(test, quoted(name), type)
  return asked === quoted(name) ? asked : `(${asked})`
}

const nameOf = ({ from }: MappedPart): string =>
  'select' in from ? 'a select of the file' : `${from.schema ?? 'public'}.${from.table}`

/** The statement that makes an index; null: a query cannot have one. For a view, the reader must know its tables. */
const statementOf = ({ from }: MappedPart, expression: string): string | null =>
  'select' in from ? null : `create index concurrently on ${placeOf(from)} (${expression});`
