/** Within a major version the public surfaces only grow: they are compared with those of the last release. */
import { expect, test } from 'vitest'
import { lostSurfaces, readSurfaces } from '../../../build/surfaces.ts'

test('nothing that the last release offered is removed, narrowed or made uncertain', async () => {
  expect(Object.keys(readSurfaces())).toEqual([
    ...['admin-api', 'client-types', 'command-line', 'command-output', 'configuration-file', 'outbox'],
    ...['peers-civil', 'peers-disability', 'peers-ess', 'peers-farmer', 'peers-ibr', 'peers-social'],
    ...['protocol-types', 'records'],
  ])
  // An intended break needs a new major version, which stores its surfaces: CONTRIBUTING.md, "Public surfaces".
  expect(await lostSurfaces()).toEqual([])
})
