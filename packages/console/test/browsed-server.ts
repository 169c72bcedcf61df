/** The set-up of tests of pages: a server with records, a message of each sort, and states that are rare. */
import { addOperator } from '@rollcall/admin/operators/operators'
import { acting } from '../../admin/test/acting.ts'
import { openBrowser, type TestBrowser } from '../../admin/test/browser.ts'
import { bearer, post, postSearch, searchRequest, type TestServer, testServer } from '../../server/test/server.ts'
import type { TestSettings } from '../../settings/test/config.ts'
import { checked, importUnderWay, indexesMissing } from './rare-states.ts'

export const person = (uin: string) => ({
  '@type': 'Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  name: { given_name: 'Ada' },
})

export interface BrowsedServer {
  readonly server: TestServer
  readonly opened: TestBrowser
  /** The token of an operator who may do everything. */
  readonly token: string
  /** The message_id of a request that is answered later. */
  readonly message_id: string
  close(): Promise<void>
}

export async function browsedServer(env: TestSettings = {}): Promise<BrowsedServer> {
  const server = await testServer({ ROLLCALL_PARTNER_PAGE: '1', ...env })
  const civil = await server.registry('civil', [person('0012'), person('0013')])
  const asker = await server.participant('spmis.example')
  const item = { search_criteria: { query_type: 'idtype-value', query: { type: 'UIN', value: '0012' } } }
  await postSearch(server, asker, [item])
  const later = searchRequest(asker.sender_id, { type: 'UIN', value: '0013' })
  const { message_id } = later.header
  await post(`${server.url}/civil/v1.0.0/registry/search`, later, bearer(asker))
  await indexesMissing(server, civil)
  const endImport = await importUnderWay(server, civil)
  await checked(server, civil, asker.sender_id)
  const { token } = await addOperator(acting(server.context), { name: 'ops', roles: ['own'] })
  const opened = await openBrowser()
  const close = async (): Promise<void> => {
    endImport()
    await opened.close()
    await server.close()
  }
  return { server, opened, token, message_id, close }
}
