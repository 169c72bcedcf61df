import { expect, it } from 'vitest'
import { pageOfRows } from './paging.ts'

const idOf = ({ id }: { readonly id: number }) => id
const rows = [{ id: 9 }, { id: 7 }, { id: 4 }]

it('leaves out the row that only says that there is more', () => {
  expect(pageOfRows(rows, 2, idOf)).toEqual({ rows: [{ id: 9 }, { id: 7 }], next: '7' })
})

it.each([[3], [4]])('has no next page where %i rows are asked for and three are there', (size) => {
  expect(pageOfRows(rows, size, idOf)).toEqual({ rows, next: null })
})

it('has nothing before the answer is here', () => {
  expect(pageOfRows(undefined, 2, idOf)).toEqual({ rows: undefined, next: null })
  expect(pageOfRows([], 2, idOf)).toEqual({ rows: [], next: null })
})
