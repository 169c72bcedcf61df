/** Writes the types of the calls of the admin API and of the partner API, from the tables that the server mounts. */
import { writeFileSync } from 'node:fs'
import openapi, { astToString } from 'openapi-typescript'
import { makeAdminApiDocument } from '../../server/src/http/admin/openapi.ts'
import { ADMIN_ROUTES } from '../../server/src/http/admin/routes.ts'
import { partnerDocument } from '../../server/src/http/partner/openapi.ts'

const DOCUMENTS = [
  [makeAdminApiDocument(ADMIN_ROUTES), new URL('../src/api/schema.d.ts', import.meta.url)],
  [partnerDocument(), new URL('../src/partner/schema.d.ts', import.meta.url)],
] as const

for (const [document, file] of DOCUMENTS) {
  writeFileSync(file, astToString(await openapi(JSON.stringify(document))))
}
