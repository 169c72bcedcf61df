/** Writes the types of the admin API's calls, from the same document that the server answers with. */
import { writeFileSync } from 'node:fs'
import openapi, { astToString } from 'openapi-typescript'
import { adminDocument } from '../../server/src/http/admin/openapi.ts'
import { ADMIN_ROUTES } from '../../server/src/http/admin/routes.ts'

const types = await openapi(JSON.stringify(adminDocument(ADMIN_ROUTES)))
writeFileSync(new URL('../src/api/schema.d.ts', import.meta.url), astToString(types))
