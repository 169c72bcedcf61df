import { expect, it } from 'vitest'
import { makeAdminApiDocument } from './openapi.ts'
import { ADMIN_ROUTES } from './routes.ts'

it('the document marks the calls that are deprecated, and no other', () => {
  const deprecated = { since: '2027-01-31', sunset: '2027-12-31' }
  const rows = ADMIN_ROUTES.map((row) => (row.name === 'listHolds' ? { ...row, deprecated } : row))
  const marked = (routes: typeof ADMIN_ROUTES): readonly string[] => {
    const { paths } = makeAdminApiDocument(routes) as {
      paths: Readonly<Record<string, Readonly<Record<string, { deprecated?: boolean; operationId: string }>>>>
    }
    return Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap((call) => (call.deprecated === true ? [call.operationId] : []))
  }
  expect(marked(rows)).toEqual(['listHolds'])
  expect(marked(ADMIN_ROUTES)).toEqual([])
})
