import { expect, test, vi } from 'vitest'
import { printResult, tableText } from './output.ts'

test('a table has its columns in line, and says so where it has no rows', () => {
  const rows = [
    { name: 'civil', records: 2_000, demo: true, alias: null },
    { name: 'a longer name', records: 0, demo: false, alias: 'x' },
  ]
  expect(tableText(['name', 'records', 'demo', 'alias'], rows, 'nothing')).toBe(
    ['name           records  demo  alias', 'civil          2000     yes   -', 'a longer name  0        no    x'].join('\n'),
  )
  expect(tableText(['name'], [], 'nothing')).toBe('nothing')
})

test('what peers write moves no cursor, begins no line, and turns no text round', () => {
  const id = 'm\u001b[2J\u009b1m\n2\u202e'
  const text = tableText(['message_id'], [{ message_id: id }], 'nothing')
  expect(text).toBe('message_id\nm\\u001b[2J\\u009b1m\\u000a2\\u202e')
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    printResult({ json: true }, { id }, '')
    printResult({}, { id }, `id: ${id}`)
    const [[json], [plain]] = write.mock.calls as unknown as [[string], [string]]
    expect(JSON.parse(json)).toEqual({ id })
    expect(json).toBe('{"id":"m\\u001b[2J\\u009b1m\\n2\\u202e"}\n')
    expect(plain).toBe('id: m\\u001b[2J\\u009b1m\n2\\u202e\n')
  } finally {
    write.mockRestore()
  }
})
