import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ADMIN_BASE } from './route.ts'
import { ADMIN_ROUTES } from './routes.ts'

it('docs/admin-api.md has a row for each call, with its role', async () => {
  const text = await readFile(new URL('../../../../../docs/admin-api.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| `((?:GET|POST) \/admin\/v1\/\S+)` \| `(\w+)` \|/gm)]
  const described = rows.map(([, call, role]) => `${call} ${role}`)
  const calls = ADMIN_ROUTES.map(({ method, path, role }) => `${method} ${ADMIN_BASE}${path} ${role}`)
  expect(described.toSorted()).toEqual(calls.toSorted())
})
