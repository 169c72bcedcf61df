import { createSecretKey, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { masterKeyFromEnvironment } from '@rollcall/keys/master-key'
import { createVault } from '@rollcall/keys/vault'
import { isRegType, validator } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { acting } from '../../test/acting.ts'
import { AdminRefusal } from '../admin-function.ts'
import { listOwnKeys, revokeOwnKey, rotateMasterKey, rotateOwnKeys } from '../operators/own-keys.ts'
import { deleteRecords, importRecords } from '../records/records.ts'
import { addAttribute, indexAttribute, listAttributes, removeAttribute } from './attributes.ts'
import { explainQuery } from './explain.ts'
import { applyIndexes, planIndexes } from './indexes.ts'
import { addRegistry, changeRegistry, listRegistries } from './registries.ts'

let database: TestDatabase
const limits = DEFAULT_LIMITS

const newKey = () => createSecretKey(randomBytes(32))
const masterKey = masterKeyFromEnvironment({ masterKey: newKey(), newMasterKey: newKey() })
const deps = () => {
  const { db } = database
  const source = Readable.from(['{"identifier": "U1"}\n{"identifier": []}\n'])
  const options = { rejectsPath: null, limits, masterKey }
  return acting({ db, source, ...options, vault: () => createVault(db, masterKey) })
}

const civil = { namespace: 'civil' }
const person = { ...civil, record_type: 'Person' }

beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

describe('a result is what its schema says', () => {
  test.each([
    [addRegistry, { kind: 'civil', aliases: ['crvs'] }],
    [changeRegistry, { ...civil, time_zone: 'Africa/Kigali' }],
    [importRecords, { ...civil, format: 'ndjson' }],
    [listRegistries, {}],
    [addAttribute, { ...person, name: 'ward', paths: ['address.ward'], type: 'text', indexed: true }],
    [indexAttribute, { ...person, name: 'sex' }],
    [listAttributes, civil],
    [planIndexes, {}],
    [applyIndexes, civil],
    [explainQuery, { ...civil, query: { sex: 'female' }, values: true }],
    [explainQuery, { ...civil, query: { marital_status: 'single' } }],
    [removeAttribute, { ...person, name: 'ward' }],
    [deleteRecords, { ...person, identifiers: ['U1', 'U1', 'U2'] }],
    [rotateOwnKeys, { use: 'sig' }],
    [listOwnKeys, {}],
    [rotateMasterKey, {}],
  ])('case %#', async (adminFunction, input) => {
    const result = await adminFunction(deps() as never, input as never)
    expect(validator(adminFunction.result).problem(JSON.parse(JSON.stringify(result)), '')).toBeNull()
  })

  test('a key that is revoked', async () => {
    const [key] = await listOwnKeys(deps(), {})
    const revoked = await revokeOwnKey(acting(deps()), { kid: key?.kid ?? '' })
    expect(revoked.state).toBe('revoked')
    expect(validator(revokeOwnKey.result).problem(revoked, '')).toBeNull()
  })
})

describe('what cannot be is refused, with the member and the rule', () => {
  test.each([
    [addRegistry, { kind: 'church' }, /^kind: must be one of civil, /],
    [addRegistry, { kind: 'civil', aliases: 'crvs' }, /^aliases: must be an array$/],
    [
      changeRegistry,
      civil,
      /^nothing to change: give aliases, time_zone, majority_age, web_origins, reg_type_aliases, qualified_kids, primary_identifiers or source$/,
    ],
    [changeRegistry, { ...civil, majority_age: 0 }, /^majority_age: must be at least 1$/],
    [changeRegistry, { ...civil, time_zone: 'Mars' }, /^"Mars" is no time zone/],
    [changeRegistry, { ...civil, aliases: ['a|b'] }, /^alias "a\|b" contains \| or "$/],
    [changeRegistry, { ...civil, reg_type_aliases: ['crvs'] }, /^the reg_type "crvs" means this registry without an alias$/],
    [
      changeRegistry,
      { ...civil, reg_type_aliases: ['a b'] },
      /^the reg_type "a b" must be letters, digits and the characters _ \. : \/ - of at most 100$/,
    ],
    [addAttribute, { ...person, name: 'n', paths: ['n'], type: 'age' }, /^type: must be one of text, /],
    [deleteRecords, { ...person, identifiers: [] }, /^name the records: by identifiers$/],
    [deleteRecords, { ...person, identifiers: [7] }, /^identifiers\[0\]: must be a string$/],
    [importRecords, { ...civil, format: 'xml' }, /^format: must be one of /],
    [importRecords, { namespace: 'nowhere' }, /^there is no registry at nowhere; /],
    [explainQuery, civil, /^query: is required$/],
    [explainQuery, { ...civil, query: { nonsense: 1 } }, /^rjct\.search_criteria\.invalid: /],
    [planIndexes, { registry: 'civil' }, /^registry: is not a known member$/],
    [rotateOwnKeys, { use: 'all' }, /^use: must be one of sig, enc, token$/],
  ])('case %#', async (adminFunction, input, message) => {
    const refused = await adminFunction(deps() as never, input as never).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(AdminRefusal)
    expect((refused as Error).message).toMatch(message)
  })
})

test('further values of reg_type mean the registry, and end again', async () => {
  const aliases = ['ocrvs:registry_type:nacimiento']
  const changed = await changeRegistry(acting(deps()), { ...civil, reg_type_aliases: aliases })
  expect(changed.reg_type_aliases).toEqual(aliases)
  const means = async () => isRegType((await requireRegistry(deps().db, 'civil')).kind, 'x:NACIMIENTO')
  expect(await means()).toBe(true)
  await changeRegistry(acting(deps()), { ...civil, reg_type_aliases: [] })
  expect(await means()).toBe(false)
})

test('a stopped deletion says what is done', async () => {
  const deleting = deleteRecords(acting({ ...deps(), signal: AbortSignal.abort() }), { ...person, identifiers: ['U1'] })
  await expect(deleting).rejects.toThrow(new AdminRefusal('interrupted: 0 are deleted; the same command deletes the rest'))
})
