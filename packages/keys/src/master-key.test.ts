import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { readConfig } from '@rollcall/settings/config'
import { expect, test } from 'vitest'
import { generateMasterKey, masterKeyText, parseMasterKey } from './master-key.ts'

const bytes = Buffer.concat([Buffer.of(0xfb, 0xff), randomBytes(30)])

test.each([
  ['base64', bytes.toString('base64')],
  ['base64 without padding', bytes.toString('base64').replace('=', '')],
  ['base64url', bytes.toString('base64url')],
  ['hexadecimal', bytes.toString('hex')],
  ['hexadecimal in capitals', bytes.toString('hex').toUpperCase()],
])('a key in %s is read', (_form, text) => {
  expect(parseMasterKey(text)?.export()).toEqual(bytes)
})

test.each([
  ['nothing', ''],
  ['31 bytes', bytes.subarray(1).toString('base64')],
  ['33 bytes', Buffer.concat([bytes, Buffer.of(1)]).toString('base64')],
  ['a character missing', bytes.toString('base64url').slice(1)],
  ['a hexadecimal digit missing', bytes.toString('hex').slice(1)],
  ['a character that is none of base64', `!${bytes.toString('base64url').slice(1)}`],
  ['a last character with bits that do not count', `${'A'.repeat(42)}B`],
  ['a passphrase', 'correct horse battery staple'],
])('%s is no key', (_what, text) => {
  expect(parseMasterKey(text)).toBeNull()
})

test('what is written is read again', () => {
  const key = generateMasterKey()
  expect(parseMasterKey(masterKeyText(key))?.equals(key)).toBe(true)
})

test('a variable with something else keeps the server from starting, and the value is not told', () => {
  for (const name of ['ROLLCALL_MASTER_KEY', 'ROLLCALL_NEW_MASTER_KEY']) {
    expect(() => readConfig({ [name]: 'short-secret' })).toThrow(
      new Error(`${name} must be 32 bytes as base64, base64url or hexadecimal`),
    )
  }
})

test('a configuration can be logged without giving the key away', () => {
  const config = readConfig({ ROLLCALL_MASTER_KEY: bytes.toString('base64') })
  expect(config.masterKey?.export()).toEqual(bytes)
  const logged = JSON.stringify(config) + inspect(config, { depth: 5, showHidden: true })
  for (const form of ['base64', 'base64url', 'hex'] as const) {
    expect(logged).not.toContain(bytes.toString(form).slice(0, 20))
  }
})
