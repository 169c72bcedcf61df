/** Further values of receiver_id and reg_type by which peers address a registry, given to it while it is served. */

import { AdminRefusal } from '@rollcall/admin/admin-function'
import { changeRegistry } from '@rollcall/admin/registries/registries'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { bearer, post, searchRequest, type TestParticipant, type TestServer, testServer } from './server.ts'

const civil = { namespace: 'civil' } as const
const NAME = 'https://crvs.example/civil/v1.0.0'

let server: TestServer
let caller: TestParticipant
beforeAll(async () => {
  server = await testServer()
  await server.registry('civil', [{ '@type': 'Person', identifier: [{ identifier_type: 'UIN', identifier_value: '0013' }] }])
  await server.registry('social')
  caller = await server.participant('caller.example')
})
afterAll(() => server.close())

const change = (changes: object) => changeRegistry(acting(server.database), { ...civil, ...changes })

const search = (namespace: string, changes: Parameters<typeof searchRequest>[2]) =>
  post(
    `${server.url}/${namespace}/v1.0.0/registry/sync/search`,
    searchRequest(caller.sender_id, { type: 'UIN', value: '0013' }, changes),
    bearer(caller),
  )

/** The answer to a search at the path of this registry: the status of its item. */
const item = async (namespace: string, reg_type: string) => {
  const { body } = await search(namespace, { criteria: { reg_type } })
  const [{ status, status_reason_message }] = body.message.search_response
  return [status, status_reason_message]
}

describe('reg_type', () => {
  it("is a registry's alias in its own paths, and another kind's mnemonic elsewhere", async () => {
    const refused = ['rjct', 'search_criteria.reg_type: this registry is ns:org:RegistryType:Civil']
    expect(await item('civil', 'ns:org:RegistryType:Individual')).toEqual(refused)
    await change({ reg_type_aliases: ['Individual'] })
    await expect.poll(() => item('civil', 'ns:org:RegistryType:Individual')).toEqual(['succ', undefined])
    expect(await item('social', 'ns:org:RegistryType:Individual')).toEqual(['succ', undefined])
    expect(await item('civil', 'ns:org:RegistryType:Group')).toEqual(refused)
    await change({ reg_type_aliases: [] })
    await expect.poll(() => item('civil', 'ns:org:RegistryType:Individual')).toEqual(refused)
  })
})

describe('receiver_id', () => {
  const statusFor = async (receiver_id: string) => (await search('civil', { header: { receiver_id } })).status

  it('may be an alias that is set, an address too, until it is set to none', async () => {
    expect(await statusFor(NAME)).toBe(400)
    expect((await change({ aliases: [NAME, NAME, 'crvs.example'] })).aliases).toEqual([NAME, 'crvs.example'])
    await expect.poll(() => statusFor(NAME)).toBe(200)
    expect(await statusFor('crvs.other')).toBe(400)
    // Its own names are not taken from it.
    expect((await change({ aliases: [NAME] })).aliases).toEqual([NAME])
    await change({ aliases: [] })
    await expect.poll(() => statusFor(NAME)).toBe(400)
  })

  it('is refused as an alias where another registry has it, and then nothing is changed', async () => {
    await expect(change({ aliases: ['social.example'], time_zone: 'Africa/Kigali' })).rejects.toThrow(
      new AdminRefusal('"social.example" is a name of the registry at social already; choose another'),
    )
    expect(await change({ majority_age: 18 })).toMatchObject({ aliases: [], time_zone: 'UTC' })
  })

  it('is given to one of several registries that want it at once', async () => {
    const wanted = ['civil', 'social'].map((namespace) => changeRegistry(acting(server.database), { namespace, aliases: [NAME] }))
    const settled = await Promise.allSettled(wanted)
    expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })
})
