import { expect, test } from 'vitest'
import { databaseAdvice } from './database-failure.ts'

const PLACE = 'the database registry on db.example.org:5432'

test.each([
  ['28P01', '', 'does not accept the user or the password: correct DATABASE_URL; a character such as @'],
  ['28000', '', 'pg_hba.conf must have a line'],
  ['42501', '', 'docs/roles.md has the rights of each role'],
  ['53300', '', 'has no connection left'],
  ['57P03', '', 'is starting or stopping: try again in a moment'],
  ['3D000', '', 'there is no database registry on db.example.org:5432: correct the name, or create it'],
  ['ENOTFOUND', '', 'the host of the database registry on db.example.org:5432 is not known'],
  ['ETIMEDOUT', '', 'cannot be reached'],
  ['SELF_SIGNED_CERT_IN_CHAIN', '', 'sslrootcert=/path/ca.pem'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', '', 'is for another host'],
  [
    undefined,
    'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string',
    'asks for a password, and DATABASE_URL has none: postgres://user:password@host/database',
  ],
  [undefined, 'The server does not support SSL connections', 'does not offer TLS'],
])('%s%s is said with what to do', (code, message, advice) => {
  const isState = /^[0-9A-Z]{5}$/.test(code ?? '')
  const text = databaseAdvice({ [isState ? 'sqlstate' : 'code']: code, message }, PLACE)
  expect(text).toContain(advice)
  expect(text).toContain('registry on db.example.org:5432')
  expect(text?.endsWith(`(${code})`)).toBe(code !== undefined)
})

test('what is not known here is not guessed', () => {
  expect(databaseAdvice({ sqlstate: '23505', message: 'duplicate key' }, PLACE)).toBeUndefined()
  expect(databaseAdvice({ message: 'something else' }, PLACE)).toBeUndefined()
})
