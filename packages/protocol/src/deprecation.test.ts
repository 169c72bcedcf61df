import { expect, it } from 'vitest'
import { deprecationHeaders } from './deprecation.ts'
import { KINDS } from './kinds/index.ts'
import { openApiDocument } from './openapi.ts'
import { OPERATIONS, operation } from './operations.ts'

const deprecated = { since: '2027-01-31', sunset: '2027-12-31' }

it('the days of a deprecation are headers as RFC 9745 and RFC 8594 have them', () => {
  expect(deprecationHeaders(deprecated)).toEqual({ Deprecation: '@1801353600', Sunset: 'Fri, 31 Dec 2027 00:00:00 GMT' })
})

it('the document of a kind marks an operation that is deprecated, on both paths, and no other', () => {
  const [kind] = KINDS
  if (kind === undefined) throw new Error('there is no kind')
  const rows = OPERATIONS.map((row) => (row.name === 'search' ? { ...row, deprecated } : row))
  const marked = (operations: typeof OPERATIONS): readonly string[] =>
    Object.entries(openApiDocument(kind, { server_url: '/', operations }).paths).flatMap(([path, { post }]) =>
      (post as { deprecated?: boolean }).deprecated === true ? [path] : [],
    )
  const { sync_paths, async_paths } = operation('search')
  expect(marked(rows)).toEqual([...sync_paths, ...async_paths].map((path) => `/${path}`))
  expect(marked(OPERATIONS)).toEqual([])
})

it('what is deprecated has a later day on which it ends', () => {
  for (const row of OPERATIONS.flatMap((one) => one.deprecated ?? [])) {
    expect(Date.parse(row.sunset)).toBeGreaterThan(Date.parse(row.since))
  }
})
