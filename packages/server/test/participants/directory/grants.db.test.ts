/** Stored grants that this version does not allow: they grant nothing. */

import { explainGrant } from '@rollcall/admin/grants/grants'
import type { GrantTerms } from '@rollcall/core/model/grant'
import { addGrant } from '@rollcall/participants/store/grants'
import { findParticipant } from '@rollcall/participants/store/participants'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { afterAll, describe, expect, it } from 'vitest'
import { EVERYTHING } from '../../../../participants/test/grants.ts'
import { expectFault } from '../../expectations.ts'
import { postSearch, testServer } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())
await server.registry('civil')
await server.registry('social')
const peer = await server.participant('sp.example')

const CONSENTED = {
  operations: ['search'],
  query_forms: ['identifier'],
  see: ['sex'],
  basis: 'consent',
  purposes: ['eligibility'],
} as const satisfies GrantTerms

describe('a stored grant grants nothing, and is logged', () => {
  it.each<[string, string, GrantTerms, string]>([
    [
      'with query forms that its basis does not have',
      'civil',
      { ...CONSENTED, query_forms: ['identifier', 'expression'] },
      'query_forms: must be identifier alone for basis consent',
    ],
    [
      'with a record type of several people, which its basis does not have',
      'social',
      { ...CONSENTED, record_types: ['Member', 'Group'] },
      'record_types: must not have Group for basis consent: the identifier of one person finds a record of several',
    ],
    [
      'with an attribute that the registry does not have any more',
      'civil',
      { ...EVERYTHING, see: ['shoe_size'] },
      'see: shoe_size is no attribute, relation or member of Person',
    ],
  ])('%s', async (_, namespace, terms, problem) => {
    const { db } = server.database
    const [participant, registry] = [await findParticipant(db, peer.sender_id), await requireRegistry(db, namespace)]
    if (participant === null) throw new Error('there is no participant')
    const { id } = await addGrant(db, { participant, registry }, terms, { replace: true })
    server.clock.pass(1_000)
    const query = { query_type: 'idtype-value', query: { type: 'UIN', value: '1' } }
    const consent = { ts: new Date().toISOString(), purpose: { text: 'Check', code: 'eligibility' } }
    for (const search_criteria of [query, { ...query, consent }]) {
      expectFault(
        await postSearch(server, peer, [{ search_criteria }], namespace),
        403,
        'err.request.forbidden',
        'nothing in this registry is granted to this participant',
      )
    }
    const lines = server
      .logged()
      .split('\n')
      .filter((line) => line.includes('cannot be read any more'))
    expect(JSON.parse(lines.at(-1) ?? '{}')).toMatchObject({
      level: 'error',
      grant: id,
      problem,
      msg: 'a grant cannot be read any more: it grants nothing',
    })
    // Once for each version of a grant, not for each request.
    expect(lines.filter((line) => JSON.parse(line).grant === id)).toHaveLength(1)
    await expect(explainGrant({ db }, { sender_id: peer.sender_id, namespace })).rejects.toThrow(
      `the grant in force cannot be read any more and grants nothing: ${problem}`,
    )
  })
})
