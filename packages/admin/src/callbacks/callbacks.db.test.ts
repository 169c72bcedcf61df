import { openDatabase } from '@rollcall/database/database'
import { validator } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { partnerCertificate, partnerKey } from '../../../participants/test/partner-certificate.ts'
import { acting } from '../../test/acting.ts'
import { loopbackKey } from '../../test/loopback-certificate.ts'
import { AdminRefusal } from '../admin-function.ts'
import { addParticipant } from '../participants/participants.ts'
import { callbackCredentialsOf, changeCallback } from './callbacks.ts'

const NOWHERE = { allowed: [], default_url: null }
const SP = { allowed: ['https://b.example/cb'], default_url: 'https://sp.example/dci' }
const BEARER = { auth: 'bearer', token: 's3cret' } as const
const MTLS = { auth: 'mtls', cert: partnerCertificate, key: partnerKey } as const
const OAUTH2 = { auth: 'oauth2', token_url: 'https://tokens.example/token', client_id: 'us', client_secret: 's3cret' } as const

describe('what is sealed', () => {
  test.each([
    ['a token', BEARER, BEARER],
    ['who we are at a token endpoint', OAUTH2, { ...OAUTH2, scope: null }],
    ['a scope', { ...OAUTH2, scope: 'callbacks' }, { auth: 'oauth2', scope: 'callbacks' }],
    ['a client certificate', MTLS, MTLS],
  ])('%s', (_name, given, expected) => {
    expect(callbackCredentialsOf(SP, given)).toMatchObject({ ...expected, origin: 'https://sp.example' })
  })

  test('is for the origin that is named, else the default address, else the only one that is allowed', () => {
    const originOf = (addresses: Parameters<typeof callbackCredentialsOf>[0], origin?: string) =>
      callbackCredentialsOf(addresses, { ...BEARER, ...(origin !== undefined && { origin }) })?.origin
    expect(originOf(SP, 'https://c.example:8443')).toBe('https://c.example:8443')
    expect(originOf(SP)).toBe('https://sp.example')
    expect(originOf({ ...NOWHERE, allowed: SP.allowed })).toBe('https://b.example')
  })

  test('nothing where there shall be none, and what there was where nothing is said', () => {
    expect(callbackCredentialsOf(SP, { auth: 'none' })).toBeNull()
    expect(callbackCredentialsOf(SP, {})).toBeUndefined()
  })
})

const ORIGIN = 'origin must say whom the credentials are for, such as https://spmis.example.org'

test.each([
  ['a key of another certificate', SP, { ...MTLS, key: loopbackKey }, 'the certificate and the key do not belong together'],
  ['no key', SP, { auth: 'mtls', cert: partnerCertificate }, 'auth mtls needs key'],
  ['no way of authentication', SP, { token: 's3cret' }, 'token needs auth'],
  ['a member of another way', SP, { ...BEARER, scope: 'x' }, 'scope does not belong to auth bearer'],
  ['a strange address of tokens', SP, { ...OAUTH2, token_url: 'ftp://t.example' }, 'token_url must be an http or https address'],
  ['a strange origin', SP, { ...BEARER, origin: 'sp.example' }, ORIGIN],
  ['credentials for nobody', NOWHERE, BEARER, ORIGIN],
] as const)('%s is refused', (_name, addresses, given, message) => {
  expect(() => callbackCredentialsOf(addresses, given)).toThrow(new AdminRefusal(message))
})

describe('settings of a participant', () => {
  let database: TestDatabase
  const vault = () => Promise.reject(new Error('no credentials, no master key'))
  const change = (input: Omit<Parameters<typeof changeCallback>[1], 'sender_id'>) =>
    changeCallback(acting({ db: database.db, vault }), { sender_id: 'a.example', ...input })

  beforeAll(async () => {
    database = await testDatabase()
    await addParticipant(acting(database), { sender_id: 'a.example', name: 'A' })
  })
  afterAll(() => database.close())

  test('are changed without a master key, and shown as their schema says', async () => {
    const changed = await change({ allow: ['https://sp.example'], schedule: [1, 2.5, 60], rate: 50 })
    expect(changed).toMatchObject({ allowed: ['https://sp.example'], schedule: [1, 2.5, 60], rate: 50 })
    expect(validator(changeCallback.result).problem(changed, '')).toBeNull()
  })

  test.each([
    [{ rate: 0 }, 'rate: must be at least 1'],
    [{ token: 'two words' }, 'token: must match ^[\\x21-\\x7e]{1,8192}$'],
    [{ schedule: [0.00001] }, 'schedule: must be 1 to 100 numbers of seconds, with at most three decimals'],
    [{ schedule: [] }, 'schedule: must be 1 to 100 numbers of seconds, with at most three decimals'],
    [
      { default_url: 'https://10.0.0.1/' },
      'the address must be reachable on the public network; rollcall participant host allow permits that host, with --private in a private network, with --loopback on this machine',
    ],
    [{ disallow: ['https://b.example'] }, 'https://b.example is not among the allowed addresses'],
  ])('%j is refused', async (input, message) => {
    await expect(change(input)).rejects.toThrow(new AdminRefusal(message))
  })

  test('are changed with all deliveries that wait, although one statement changes them for longer than statements may take', async () => {
    const { db, connection, owner } = database
    await db.pool.query(
      `insert into delivery (id, participant, registry, callback, message_id, encrypted, body, state, target, next_attempt_at)
       select gen_random_uuid(), id, 1, 'on-search', 'm', false, '', 'pending', 'https://old.example/on-search', 'infinity'
       from participant where sender_id = 'a.example'`,
    )
    const [slow, maker] = [openDatabase({ ...connection, statement_timeout: 200 }), openDatabase(owner)]
    try {
      await maker.pool.query(
        `create function linger() returns trigger language plpgsql as $$ begin perform pg_sleep(0.3); return null; end $$;
         create trigger linger before update on delivery for each statement execute function linger()`,
      )
      await changeCallback(acting({ db: slow, vault }), { sender_id: 'a.example', default_url: 'https://sp.example/dci' })
    } finally {
      await maker.pool.query('drop trigger linger on delivery')
      await Promise.all([slow.close(), maker.close()])
    }
    const { rows } = await db.pool.query(`select target, next_attempt_at < now() + interval '2 seconds' as due from delivery`)
    expect(rows).toEqual([{ target: 'https://sp.example/dci/registry/on-search', due: true }])
  })
})
