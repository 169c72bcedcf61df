import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LIMITS, readLimits } from './limits.ts'

describe('limits', () => {
  it('are those of docs/limits.md', () => {
    const page = readFileSync(new URL('../../../docs/limits.md', import.meta.url), 'utf8')
    const listed = page.split('\n').filter((line) => line.startsWith('| `'))
    const rows = Object.values(LIMITS).map(
      (row) => `| \`${row.variable}\` | ${row.default} | ${row.min} | ${row.max} | ${row.unit} | ${row.meaning} |`,
    )
    expect(listed).toEqual(rows)
  })

  it('have their defaults unless set', () => {
    expect(readLimits({})).toMatchObject({ upload_bytes: 67_108_864, batch_items: 10_000, page_size: 100 })
    expect(readLimits({ ROLLCALL_MAX_PAGE_SIZE: '25', ROLLCALL_MAX_UPLOAD_BYTES: '' })).toMatchObject({
      page_size: 25,
      upload_bytes: 67_108_864,
    })
  })

  it.each(['0', '-1', '1.5', 'many', '1e99', ' '])('refuse %j', (value) => {
    expect(() => readLimits({ ROLLCALL_MAX_PAGE_SIZE: value })).toThrow(
      'ROLLCALL_MAX_PAGE_SIZE must be a whole number from 1 to 10000 (records)',
    )
  })
})
