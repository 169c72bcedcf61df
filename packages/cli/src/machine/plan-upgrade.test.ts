import { expect, test } from 'vitest'
import { isLaterVersion, type NodeVersions, planUpgrade } from './plan-upgrade.ts'

const versions = (before: string | null, inUse = '1.0.0'): NodeVersions['versions'] =>
  new Map([
    [8080, inUse],
    [8082, before],
  ])
const asked = (over: Partial<NodeVersions>): NodeVersions => ({
  port: 8080,
  versions: versions(null),
  installed: '1.1.0',
  schemas: ['0.1.0', '1.1.0'],
  back: false,
  ...over,
})

test('an upgrade goes to the installed version on the other port, and back to the version before', () => {
  expect(planUpgrade(asked({}))).toEqual({ from: '1.0.0', to: '1.1.0', port: 8080, next: 8082 })
  expect(planUpgrade(asked({ port: 8082, versions: versions('1.1.0'), back: true }))).toEqual({
    from: '1.1.0',
    to: '1.0.0',
    port: 8082,
    next: 8080,
  })
  expect(planUpgrade(asked({ installed: '1.0.0' }))).toBe(null)
})

test.each([
  [{ back: true }, 'no version ran before the one in use'],
  [{ back: true, versions: versions('1.0.0') }, 'no version ran before the one in use'],
  [{ versions: new Map() }, 'no version is known of the node on port 8080: install the package again'],
  [
    { installed: '1.2.0', schemas: ['0.1.0', '1.1.0', '1.2.0'] },
    'the tables changed in 1.1.0 and 1.2.0, and nodes of 1.0.0 work with those of one version more: install these versions one after the other',
  ],
])('%o is refused', (over, message) => {
  expect(planUpgrade(asked(over))).toBe(message)
})

test('versions are compared by their numbers', () => {
  expect([isLaterVersion('1.10.0', '1.9.0'), isLaterVersion('1.0.0', '1.0.0'), isLaterVersion('0.9.9', '1.0.0')]).toEqual([
    true,
    false,
    false,
  ])
})

test('a version with a suffix comes before its release, and after the release before', () => {
  const inOrder = ['0.1.9', '0.2.0-rc2', '0.2.0-rc10', '0.2.0', '0.2.1-beta-1', '0.10.0']
  for (const [at, one] of inOrder.entries()) {
    expect(inOrder.filter((other) => isLaterVersion(one, other))).toEqual(inOrder.slice(0, at))
  }
  const versions = new Map([[8080, '0.2.0-rc1']])
  expect(planUpgrade(asked({ versions, installed: '0.2.0', schemas: ['0.1.0', '0.2.0'] }))).toEqual({
    from: '0.2.0-rc1',
    to: '0.2.0',
    port: 8080,
    next: 8082,
  })
})
