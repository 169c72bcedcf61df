import { expect, test } from 'vitest'
import { readColumnMapping } from './column-mapping.ts'
import { INITIAL_PROGRESS, NO_VALUE_COUNTS } from './import-progress.ts'
import { BatchCounts } from './report-counts.ts'
import { createRowReader } from './row-documents.ts'

test('members of records may be called as those that every object has', () => {
  const mapping = readColumnMapping({ constructor: 'Builder', toString: 'Text' }, null)
  const rows = createRowReader(mapping, ['Builder', 'Text'])
  let counted = INITIAL_PROGRESS.read
  for (const line of [2, 3]) {
    const batch = new BatchCounts()
    batch.row(line, rows.read(['Ada', '']).cells)
    counted = batch.after(counted)
  }
  expect(Object.entries(counted.columns.values)).toEqual([
    ['constructor', { ...NO_VALUE_COUNTS, understood: 2 }],
    ['toString', NO_VALUE_COUNTS],
  ])
})
