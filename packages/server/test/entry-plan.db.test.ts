/** Audit entries have one plan for all parameters, so it must be a good one for tables of any size. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accepted, asyncPeer, searchFor } from './asynchronous.ts'
import { postSearch, type TestServer, testServer } from './server.ts'
import { noteStatements } from './statements.ts'

const search_criteria = { query_type: 'idtype-value', query: { type: 'UIN', value: '1' } }

const noted = noteStatements(/^$/)
let server: TestServer
let peer: Awaited<ReturnType<typeof asyncPeer>>
beforeAll(async () => {
  server = await testServer()
  await server.registry('civil')
  peer = await asyncPeer(server, 'peer.example')
})
afterAll(async () => {
  noted.stop()
  await server.close()
})

interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Node Type': string
  readonly Plans?: readonly PlanNode[]
}

const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

test.each<[string, () => Promise<unknown>]>([
  ['an answer', () => postSearch(server, peer, [{ search_criteria }])],
  ['an acknowledgement', () => accepted(server, peer, searchFor(peer, [{ search_criteria }]))],
])('the entry of %s looks up shapes and messages by their keys', async (_, ask) => {
  const { statements } = await noted.during(ask)
  const statement = statements.find((text) => text.includes('insert into account_entry')) ?? ''
  const { rows } = await server.database.db.entries.query(`explain (generic_plan, format json) ${statement}`)
  const scans = nodesOf(rows[0]['QUERY PLAN'][0].Plan).filter((node) => node['Node Type'].endsWith('Scan'))
  const read = scans.filter((node) => ['account_shape', 'exchange'].includes(node['Relation Name'] ?? ''))
  expect(new Set(read.map((node) => node['Relation Name']))).toEqual(new Set(['account_shape', 'exchange']))
  for (const node of read) expect(node).toHaveProperty('Index Cond')
})
