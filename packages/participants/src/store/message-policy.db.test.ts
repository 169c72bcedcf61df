import type { AllowedHost } from '@rollcall/core/model/allowed-hosts'
import type { MessagePolicy } from '@rollcall/core/model/participant'
import { StoreRefusal } from '@rollcall/database/refusal'
import { DEFAULT_SIGNATURE_PROFILE, type SignatureProfile } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { addParticipant, findParticipant, setMessagePolicy } from './participants.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

const RAW_RSA: SignatureProfile = { layout: 'raw-rsa', canonical_form: 'as-received', digest_prefix: '', algorithms: ['RS256'] }
const LOOPBACK: AllowedHost = { host: '127.0.0.1', ports: [8080], plainHttp: true, loopback: true }

const added = (sender_id: string, policy: Partial<MessagePolicy> = {}) =>
  addParticipant(database.db, { sender_id, name: sender_id, ...policy })

test('a policy is kept as it was given', async () => {
  const policy: MessagePolicy = {
    signature_policy: 'off',
    allow_unsigned: true,
    signature_profile: RAW_RSA,
    encryption_policy: 'required',
    jwks_uri: 'https://kept.example/jwks.json',
    outgoing: [LOOPBACK],
  }
  expect(await added('kept.example', policy)).toMatchObject(policy)
  expect(await findParticipant(database.db, 'kept.example')).toMatchObject(policy)
})

test('a change leaves what it does not name', async () => {
  const { db } = database
  const before = await added('changed.example', { encryption_policy: 'refused', outgoing: [LOOPBACK] })
  const weak = await setMessagePolicy(db, 'changed.example', { signature_policy: 'if-present', allow_unsigned: true })
  expect(weak).toEqual({ ...before, signature_policy: 'if-present', allow_unsigned: true })
  expect(await setMessagePolicy(db, 'changed.example', {})).toEqual(weak)
  const profiled = await setMessagePolicy(db, 'changed.example', { signature_profile: RAW_RSA })
  expect(profiled).toEqual({ ...weak, signature_profile: RAW_RSA })
  const reset = await setMessagePolicy(db, 'changed.example', { signature_profile: DEFAULT_SIGNATURE_PROFILE })
  expect(reset.signature_profile).toEqual(DEFAULT_SIGNATURE_PROFILE)
})

test('members that a profile does not have are not kept', async () => {
  const profile = { ...RAW_RSA, colour: 'red' }
  const { signature_profile } = await added('profile.example', { signature_profile: profile })
  expect(signature_profile).toEqual(RAW_RSA)
})

test('going on to another weak policy needs permission again, and required takes it back', async () => {
  const { db } = database
  await added('weak.example', { signature_policy: 'if-present', allow_unsigned: true })
  await expect(setMessagePolicy(db, 'weak.example', { signature_policy: 'off' })).rejects.toThrow(
    new StoreRefusal('signature_policy off takes unsigned messages, so it needs allow_unsigned: true'),
  )
  const strict = await setMessagePolicy(db, 'weak.example', { signature_policy: 'required' })
  expect(strict).toMatchObject({ signature_policy: 'required', allow_unsigned: false })
})

test('a key set belongs to one participant', async () => {
  const { db } = database
  const jwks_uri = 'https://set.example/jwks.json'
  await added('set.example', { jwks_uri })
  const refusal = new StoreRefusal('another participant has this jwks_uri; each participant needs one of its own')
  await expect(added('second.example', { jwks_uri })).rejects.toThrow(refusal)
  await added('third.example')
  await expect(setMessagePolicy(db, 'third.example', { jwks_uri })).rejects.toThrow(refusal)
})

test('nobody has no policy', async () => {
  const refusal = new StoreRefusal('no participant has sender_id nobody.example')
  await expect(setMessagePolicy(database.db, 'nobody.example', { encryption_policy: 'refused' })).rejects.toThrow(refusal)
})

const host = (changes: Partial<AllowedHost>) => ({ outgoing: [{ ...LOOPBACK, ...changes }] })
const ADDRESS = 'jwks_uri is an absolute address of at most 2048 characters'

// Values from a command line or a file have no types.
test.each<[object, string]>([
  [{ signature_policy: 'if-present' }, 'signature_policy if-present takes unsigned messages, so it needs allow_unsigned: true'],
  [{ signature_policy: 'maybe', allow_unsigned: true }, 'signature_policy is one of required, if-present, off'],
  [{ encryption_policy: 'maybe' }, 'encryption_policy is one of required, allowed, refused'],
  [
    { signature_profile: { ...RAW_RSA, algorithms: ['EdDSA'] } },
    'signature_profile: algorithms must be among those that the layout carries',
  ],
  [{ jwks_uri: 'file:///etc/passwd' }, ADDRESS],
  [{ jwks_uri: 'https://' }, ADDRESS],
  [{ jwks_uri: `https://a.example/${'x'.repeat(2_048)}` }, ADDRESS],
  [{ jwks_uri: 'https://a.example/\0' }, ADDRESS],
  [
    host({ host: '*.example' }),
    'outgoing: an allowed host must be written as in an address, in lower case, and IPv6 without brackets',
  ],
  [{ outgoing: [LOOPBACK, LOOPBACK] }, 'outgoing: an allowed host must have one row'],
  [host({ ports: [0] }), 'outgoing: ports are whole numbers from 1 to 65535'],
  [{ outgoing: Array(101).fill(LOOPBACK) }, 'outgoing: at most 100 hosts can be allowed'],
])('refuses %j', async (policy, message) => {
  await expect(added('refused.example', policy)).rejects.toThrow(new StoreRefusal(message))
  expect(await findParticipant(database.db, 'refused.example')).toBeNull()
})
