import { createOperatorTokenChecker } from '@rollcall/participants/directory/operators'
import { validator } from '@rollcall/protocol'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { skippingClock } from '../../../observe/test/clock.ts'
import { acting } from '../../test/acting.ts'
import { AdminRefusal } from '../admin-function.ts'
import { addConsentAuthority, removeConsentAuthority } from '../consents/authorities.ts'
import { addOperator, listOperators, revokeOperator } from './operators.ts'

let database: TestDatabase
let civil: number
const DAY = 86_400_000

beforeAll(async () => {
  database = await testDatabase()
  civil = (await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })).id
})
afterAll(() => database.close())

const add = (name: string, more: object = {}) => addOperator(acting(database), { name, roles: ['read'], ...more })

test('a token says who has it, and only its digest is stored', async () => {
  const { token, ...added } = await add('crvs', { roles: ['publish', 'publish'], registries: ['civil'] })
  expect(token).toMatch(/^rollcall_\d+_[\w-]{43}$/)
  expect(validator(addOperator.result).problem({ token, ...added }, '')).toBeNull()
  expect(await createOperatorTokenChecker(database.db).operatorOf(token)).toEqual({
    id: expect.any(Number),
    name: 'crvs',
    roles: ['publish'],
    registries: [civil],
    authority: null,
  })
  const { rows } = await database.db.pool.query('select * from operator_token')
  expect(JSON.stringify(rows)).not.toContain(token.slice(-43))
})

test('another secret, another id, and what is no token are refused', async () => {
  const { token } = await add('guessed')
  const operators = createOperatorTokenChecker(database.db)
  const id = /^rollcall_(\d+)_/.exec(token)?.[1]
  const wrong = [
    `rollcall_${id}_${'A'.repeat(43)}`,
    token.replace(`_${id}_`, `_${Number(id) + 1_000}_`),
    token.slice(0, -1),
    `${token} `,
    token.replace('rollcall_', 'rollcall_0'),
    '',
  ]
  expect(await Promise.all(wrong.map((text) => operators.operatorOf(text)))).toEqual(wrong.map(() => null))
  expect(await operators.operatorOf(token)).not.toBeNull()
})

test('a token may be bound to one consent authority', async () => {
  const name = 'https://consent.example'
  await addConsentAuthority(acting(database), { name, keys: [{ ...keyPair('Ed25519').jwk, kid: 'c-1' }] })
  const { token, ...added } = await add('consent-service', { roles: ['consent'], authority: name })
  expect(added).toMatchObject({ roles: ['consent'], registries: null, authority: name })
  const operator = await createOperatorTokenChecker(database.db).operatorOf(token)
  expect(operator).toMatchObject({ authority: expect.any(Number) })
  const [listed] = (await listOperators(database, {})).filter((one) => one.name === 'consent-service')
  expect(listed).toMatchObject({ authority: name })
  await expect(add('x', { roles: ['consent'], authority: 'https://nobody.example' })).rejects.toMatchObject({
    message: 'authority: no such consent authority is registered',
    reason: 'not_found',
  })
  // A token outlives the removal of its authority, and is for no other one then.
  await removeConsentAuthority(acting(database), { name })
  expect(await createOperatorTokenChecker(database.db).operatorOf(token)).toEqual(operator)
  expect((await listOperators(database, {})).find((one) => one.name === 'consent-service')).toEqual(listed)
})

test('a token expires, after 90 days unless said otherwise', async () => {
  const clock = skippingClock()
  const operators = createOperatorTokenChecker(database.db, clock)
  const { token, expires_at } = await addOperator(acting({ ...database, clock }), { name: 'late', roles: ['read'] })
  expect(Date.parse(expires_at) - clock.date()).toBeGreaterThan(89.9 * DAY)
  expect(await operators.operatorOf(token)).toMatchObject({ name: 'late', registries: null })
  clock.pass(90 * DAY)
  expect(await operators.operatorOf(token)).toBeNull()
})

test('a revoked token is refused at once, and its name may be used again', async () => {
  const operators = createOperatorTokenChecker(database.db)
  const first = await add('leaver')
  expect(await revokeOperator(acting(database), { name: 'leaver' })).toEqual({ name: 'leaver', sessions: 0, proposals: 0 })
  expect(await operators.operatorOf(first.token)).toBeNull()
  await expect(revokeOperator(acting(database), { name: 'leaver' })).rejects.toMatchObject({
    message: 'no live token is named leaver',
    reason: 'not_found',
  })
  const second = await add('leaver', { roles: ['own'] })
  expect(await operators.operatorOf(second.token)).toMatchObject({ name: 'leaver', roles: ['own'] })
  const listed = await listOperators(database, {})
  expect(validator(listOperators.result).problem(listed, '')).toBeNull()
  expect(listed.filter(({ name }) => name === 'leaver')).toMatchObject([
    { live: true, roles: ['own'], registries: null, revoked_at: null },
    { live: false, roles: ['read'], revoked_at: expect.any(String) },
  ])
})

const ONLY_CONSENT = 'authority: is for a token with the role consent, and no other role'

describe('what cannot be is refused', () => {
  test.each([
    [{ roles: [] }, 'roles: must have at least 1 elements'],
    [{ roles: ['root'] }, 'roles[0]: must be one of read, publish, consent, operate, audit, own'],
    [{ registries: [] }, 'registries: must have at least 1 elements'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at: must be in the future, and at most 366 days away'],
    [{ expires_at: '2999-01-01T00:00:00Z' }, 'expires_at: must be in the future, and at most 366 days away'],
    [{ registries: ['nowhere'] }, 'there is no registry at nowhere; rollcall registry list shows those there are'],
    [{ roles: ['consent', 'read'], authority: 'https://consent.example' }, ONLY_CONSENT],
    [{ roles: ['own'], authority: 'https://consent.example' }, ONLY_CONSENT],
    [
      { roles: ['consent'], registries: ['civil'], authority: 'https://consent.example' },
      'authority: a token is bound to registries or to an authority, not to both',
    ],
    [{ name: ' ' }, 'name: must have 1 to 64 characters'],
    [{ name: 'crvs' }, 'a token named crvs exists already; revoke it first'],
  ])('%j', async (more, message) => {
    await expect(add('refused', more)).rejects.toThrow(new AdminRefusal(message))
  })
})
