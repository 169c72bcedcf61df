import { expect, test } from 'vitest'
import { upgradeSteps } from './upgrade.ts'

const PLAN = { from: '1.0.0', to: '1.1.0', port: 8080, next: 8082 }
const site = (port: number): string => `upstream rollcall {\n    server 127.0.0.1:${port} max_fails=1;\n}\n`
const firstStepsAt = (port: number): readonly string[] =>
  upgradeSteps(PLAN, site(port))
    .slice(0, 2)
    .map(({ text }) => text)

test('after an upgrade that was interrupted behind the move of nginx, the node in use serves again before the other one is stopped', () => {
  expect(firstStepsAt(8082)).toEqual([
    'give nginx back to rollcall@8080: an upgrade was interrupted',
    'prepare rollcall@8082 with version 1.1.0',
  ])
  expect(firstStepsAt(8080)[0]).toBe('prepare rollcall@8082 with version 1.1.0')
})
