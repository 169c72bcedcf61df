/** The plans of PostgreSQL: which read a whole table, and the index that would help. */

import type { QueryPlanDialect } from '../engine/dialect.ts'
import { comparedColumnSql } from './conditions.ts'
import { placeOf, quoted } from './names.ts'

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

export const PLAN_READER: QueryPlanDialect<number> = {
  prefer: 'set local enable_seqscan = off',
  explain: 'explain (format json)',
  readsAll({ rows }) {
    const [{ Plan: plan }] = JSON.parse(rows[0]?.[0] ?? '[{}]') as [{ Plan: PlanNode }]
    const isIn = (node: PlanNode): boolean => isFullScan(node) || (node.Plans ?? []).some(isIn)
    return isIn(plan)
  },
  // For a view this statement would fail: the administrator must write the name of the table that the view reads.
  indexOn(place, column, asked) {
    const name = quoted(column)
    const expression = asked === null ? name : comparedColumnSql(asked.test, name, asked.type)
    return `create index concurrently on ${placeOf(place)} (${expression === name ? name : `(${expression})`});`
  },
}

/** True when a node of a plan reads a whole table, or a whole index without a condition. */
const isFullScan = (node: PlanNode): boolean => {
  const type = node['Node Type']
  return type === 'Seq Scan' || (/^Index (?:Only )?Scan$/.test(type) && node['Index Cond'] === undefined)
}
