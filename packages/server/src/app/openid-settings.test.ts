import { expect, it } from 'vitest'
import { readOpenId } from './openid-settings.ts'

const GOOD = {
  ROLLCALL_OIDC_ISSUER: 'https://login.example.org/realms/ministry',
  ROLLCALL_OIDC_CLIENT_ID: 'rollcall',
  ROLLCALL_OIDC_CLIENT_SECRET: 'secret',
  ROLLCALL_OIDC_ROLES: 'desk=operate',
  ROLLCALL_CONSOLE_URL: 'https://console.example.org/',
}

it('without an issuer, operators sign in with tokens alone', () => {
  expect(readOpenId({})).toBe(null)
})

it('has its defaults, and a role for each value of the claim', () => {
  expect(readOpenId({ ...GOOD, ROLLCALL_OIDC_ROLES: 'desk=operate, desk=publish ,a=b=own' })).toEqual({
    ...{ issuer: GOOD.ROLLCALL_OIDC_ISSUER, client_id: 'rollcall', client_secret: 'secret' },
    roles: new Map([
      ['desk', ['operate', 'publish']],
      ['a=b', ['own']],
    ]),
    ...{ role_claim: 'roles', name_claim: 'sub', scope: 'openid', title: 'OpenID Connect' },
    redirect_uri: 'https://console.example.org/admin/v1/session/openid/callback',
  })
})

const ROLES =
  'ROLLCALL_OIDC_ROLES must be pairs such as registry-admins=own,support=read; the roles are read, publish, consent, operate, audit, own'
const ISSUER = 'ROLLCALL_OIDC_ISSUER must be an https address without query and credentials'

it.each([
  [{ ROLLCALL_OIDC_ISSUER: '' }, 'ROLLCALL_OIDC_CLIENT_ID needs ROLLCALL_OIDC_ISSUER beside it'],
  [{ ROLLCALL_OIDC_CLIENT_ID: '' }, 'ROLLCALL_OIDC_ISSUER needs ROLLCALL_OIDC_CLIENT_ID beside it'],
  [{ ROLLCALL_CONSOLE_URL: '' }, 'ROLLCALL_OIDC_ISSUER needs ROLLCALL_CONSOLE_URL beside it'],
  [{ ROLLCALL_OIDC_ROLES: 'desk=root' }, ROLES],
  [{ ROLLCALL_OIDC_ROLES: 'desk' }, ROLES],
  [{ ROLLCALL_OIDC_ROLES: '=own' }, ROLES],
  [{ ROLLCALL_OIDC_ROLES: 'desk=read,' }, ROLES],
  [{ ROLLCALL_OIDC_ISSUER: 'http://login.example.org' }, ISSUER],
  [{ ROLLCALL_OIDC_ISSUER: 'login.example.org' }, ISSUER],
  [{ ROLLCALL_OIDC_ISSUER: 'https://login.example.org?x=1' }, ISSUER],
])('%j is refused', (bad, message) => {
  expect(() => readOpenId({ ...GOOD, ...bad })).toThrow(message)
})
