import { validator } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { acting } from '../../test/acting.ts'
import { AdminRefusal } from '../admin-function.ts'
import { addParticipantKeys, listParticipantKeys, listPublicKeys, revokeParticipantKey } from './keys.ts'
import {
  addParticipant,
  disableParticipant,
  enableParticipant,
  listParticipants,
  rotateParticipantSecret,
} from './participants.ts'
import { allowParticipantHost, changeParticipantPolicy, listParticipantHosts, removeParticipantHost } from './policy.ts'

let database: TestDatabase
const sender_id = 'a.example'
const vault = () => Promise.reject(new Error('no key is made here'))
const deps = () => acting({ db: database.db, vault })

beforeAll(async () => {
  database = await testDatabase()
  await addParticipant(acting(database), { sender_id, name: 'A' })
})
afterAll(() => database.close())

describe('a result is what its schema says', () => {
  const key = keyPair('Ed25519')
  test.each([
    [addParticipant, { sender_id: 'b.example', name: 'B', rate_limit: 'unlimited', concurrency_limit: 3 }],
    [listParticipants, {}],
    [disableParticipant, { sender_id }],
    [enableParticipant, { sender_id }],
    [rotateParticipantSecret, { sender_id }],
    [changeParticipantPolicy, { sender_id, encryption_policy: 'refused' }],
    [allowParticipantHost, { sender_id, host: 'a.internal', private: true, ports: [8443] }],
    [listParticipantHosts, { sender_id }],
    [addParticipantKeys, { sender_id, keys: key.pem, kid: 'one', valid_until: '2999-01-01T00:00:00Z' }],
    [listParticipantKeys, { sender_id }],
    [listPublicKeys, { sender_id }],
    [revokeParticipantKey, { sender_id, kid: 'one' }],
    [removeParticipantHost, { sender_id, host: 'a.internal' }],
  ])('case %#', async (adminFunction, input) => {
    const result = await adminFunction(deps(), input as never)
    expect(validator(adminFunction.result).problem(JSON.parse(JSON.stringify(result)), '')).toBeNull()
  })
})

describe('an input that its schema does not accept is refused, with the member and the rule', () => {
  test.each([
    [addParticipant, { name: 'C' }, 'sender_id: is required'],
    [addParticipant, { sender_id: 'c.example', name: 7 }, 'name: must be a string'],
    [addParticipant, { sender_id: 'c.example', name: 'C', max_page_size: 0 }, 'max_page_size: must be at least 1'],
    [addParticipant, { sender_id: 'c.example', name: 'C', demo: true }, 'demo: is not a known member'],
    [
      addParticipantKeys,
      { sender_id, keys: '', valid_from: '2026-01-01' },
      'valid_from: must be a date-time with a time zone, such as 2026-02-03T09:15:00Z',
    ],
    [allowParticipantHost, { sender_id, host: 'h', ports: [0] }, 'ports[0]: must be at least 1'],
  ])('case %#', async (adminFunction, input, message) => {
    await expect(adminFunction(deps(), input as never)).rejects.toThrow(new AdminRefusal(message))
  })
})

describe('what the rooms below refuse is an AdminRefusal too', () => {
  test.each([
    [addParticipant, { sender_id, name: 'A' }, `a participant with sender_id ${sender_id} exists already`],
    [rotateParticipantSecret, { sender_id: 'nobody.example' }, 'no participant has sender_id nobody.example'],
    [addParticipantKeys, { sender_id, keys: '{}' }, /no public key|must be a text/],
    [changeParticipantPolicy, { sender_id, jwks_uri: 'https://127.0.0.1/jwks' }, /address|network/],
  ])('case %#', async (adminFunction, input, message) => {
    const refused = await adminFunction(deps(), input as never).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(AdminRefusal)
    expect((refused as Error).message).toMatch(message)
  })
})
