/** Registries that serve their operations at paths of their own. */
import { expect, it } from 'vitest'
import { type Paths, RegistryClient } from '../src/index.ts'
import { ack, finding } from './loopback.ts'
import { ADA, client, failure, registry } from './world.ts'

/** The paths at which a search of each way and a status question of each way are asked. */
async function asked(paths: Paths): Promise<string[]> {
  const asking = await client([finding([]), ack()], { paths, credentials: undefined as never })
  const question = { attribute_type: 'transaction_id', attribute_value: 'tx-1' } as const
  await asking.search(ADA)
  await asking.searchAsync(ADA)
  await asking.txnStatusAsync(question)
  // The answer of this registry is an ack: where it was asked is all that counts.
  await failure(asking.txnStatus(question))
  return registry.asked.map(({ path }) => path.slice('/civil/v1.0.0/'.length))
}

it.each<[Paths, readonly string[]]>([
  [{}, ['registry/sync/search', 'registry/search', 'registry/txn/status', 'registry/sync/txn/status']],
  [{ registry: 'dci' }, ['dci/sync/search', 'dci/search', 'dci/txn/status', 'dci/sync/txn/status']],
  [
    { registry: '/dci/', 'registry/sync': 'reg/now', 'txn-status': '/reg/txn/status' },
    ['reg/now/search', 'dci/search', 'reg/txn/status', 'reg/txn/status'],
  ],
  [
    { 'registry/sync/search': 'reg/sync/search' },
    ['reg/sync/search', 'registry/search', 'registry/txn/status', 'registry/sync/txn/status'],
  ],
  [{ registry: '' }, ['sync/search', 'search', 'txn/status', 'sync/txn/status']],
])('%j', async (paths, at) => {
  expect(await asked(paths)).toEqual(at)
})

it.each([
  ['dci', 'reg', 'must be the name of an operation, such as txn-status, or the beginning of paths, such as registry'],
  ['regis', 'reg', 'must be the name of an operation, such as txn-status, or the beginning of paths, such as registry'],
  ['', 'reg', 'must be the name of an operation, such as txn-status, or the beginning of paths, such as registry'],
  ['search', '../other', 'must be a path below base_url, such as dci or reg/txn/status'],
  ['registry', 'reg?x=1', 'must be a path below base_url, such as dci or reg/txn/status'],
])('a row %s to %s is refused', (row, path, rule) => {
  const options = { base_url: 'https://registry.example', sender_id: 'sp.example', paths: { [row]: path } }
  expect(() => new RegistryClient(options)).toThrow(new TypeError(`paths.${row}: ${rule}`))
})
