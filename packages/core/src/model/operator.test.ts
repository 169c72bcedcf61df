import { expect, test } from 'vitest'
import { hasRole, mayUseRegistry, OPERATOR_ROLES } from './operator.ts'

test('each role has itself and what it includes, and no more', () => {
  const had = OPERATOR_ROLES.map((role) => [role, ...OPERATOR_ROLES.filter((wanted) => hasRole({ roles: [role] }, wanted))])
  expect(had).toEqual([
    ['read', 'read'],
    ['publish', 'publish'],
    ['consent', 'consent'],
    ['operate', 'read', 'consent', 'operate'],
    ['audit', 'read', 'audit'],
    ['own', ...OPERATOR_ROLES],
  ])
})

test('a token that is bound to registries is for them alone', () => {
  const bound = { registries: [1, 2] }
  expect([mayUseRegistry(bound, { id: 2 }), mayUseRegistry(bound, { id: 3 }), mayUseRegistry(bound, null)]).toEqual([
    true,
    false,
    false,
  ])
  expect([mayUseRegistry({ registries: null }, { id: 3 }), mayUseRegistry({ registries: null }, null)]).toEqual([true, true])
})
