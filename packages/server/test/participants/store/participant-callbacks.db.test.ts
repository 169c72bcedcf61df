import { StoreRefusal } from '@rollcall/database/refusal'
import { type DecryptedCredentials, decryptCredentials, encryptCredentials } from '@rollcall/delivery/delivery/credentials'
import { generateMasterKey } from '@rollcall/keys/master-key'
import { withCurrentMasterKey } from '@rollcall/keys/store/master-keys'
import { rotateMasterKey } from '@rollcall/keys/vault'
import {
  findCallbackSettings,
  NO_CALLBACK_SETTINGS,
  SEALED_CREDENTIAL_TABLE,
  setCallbackSettings,
} from '@rollcall/participants/store/participant-callbacks'
import { masterKeySource, openVault } from '@rollcall/settings/storage'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testConfig } from '../../../../settings/test/config.ts'
import { type TestSender, takes, testSender } from '../../deliveries.ts'

let sender: TestSender
beforeAll(async () => {
  sender = await testSender()
})
afterAll(() => sender.close())

test('nothing is set in the beginning, and a change leaves the rest', async () => {
  const { db } = sender.database
  expect(await findCallbackSettings(db, 4_711)).toEqual(NO_CALLBACK_SETTINGS)
  const { id } = await takes(sender, 'a.example', null)
  await setCallbackSettings(db, id, { allowed: ['https://a.example'], schedule: [0.5, 1] })
  await setCallbackSettings(db, id, { rate: 7 })
  await setCallbackSettings(db, id, {})
  expect(await findCallbackSettings(db, id)).toEqual({
    ...NO_CALLBACK_SETTINGS,
    allowed: ['https://a.example'],
    schedule: [0.5, 1],
    rate: 7,
  })
})

test.each([
  [{ concurrency: 0 }, 'concurrency must be a whole number from 1 to 128'],
  [{ concurrency: 129 }, 'concurrency must be a whole number from 1 to 128'],
  [{ rate: 1.5 }, 'rate must be a whole number from 1 to 10000'],
  [{ timeout_ms: 99 }, 'timeout_ms must be a whole number from 100 to 120000'],
  [{ timeout_ms: Number.NaN }, 'timeout_ms must be a whole number from 100 to 120000'],
])('%j cannot be', async (changes, message) => {
  await expect(setCallbackSettings(sender.database.db, 1, changes)).rejects.toThrow(new StoreRefusal(message))
})

const NEXT = generateMasterKey()

test('credentials go with the master key when it is replaced', async () => {
  const { db } = sender.database
  const { id } = await takes(sender, 'b.example', null)
  const config = testConfig(sender.env)
  const secrets: DecryptedCredentials = { auth: 'bearer', origin: 'https://b.example', token: 't' }
  const vault = await openVault(config, db)
  await withCurrentMasterKey(async () => {
    await setCallbackSettings(db, id, { auth: 'bearer', sealed: await encryptCredentials(vault, id, secrets) })
  })
  const both = { ...config, newMasterKey: NEXT }
  await rotateMasterKey(db, masterKeySource(both), [SEALED_CREDENTIAL_TABLE])
  const after = await openVault({ ...config, masterKey: NEXT }, db)
  expect(await decryptCredentials(after, id, await findCallbackSettings(db, id))).toEqual(secrets)
  // The database refuses values that were encrypted with the replaced key.
  const { sealed } = await findCallbackSettings(db, id)
  const stale = Buffer.from(sealed ?? [])
  stale[0] = 1
  await expect(setCallbackSettings(db, id, { auth: 'bearer', sealed: stale })).rejects.toThrow(
    'participant_callback_master_version_fkey',
  )
})
