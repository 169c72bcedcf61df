import { LIMITS } from '@rollcall/core/limits'
import { afterAll, expect, it } from 'vitest'
import { adminCaller } from '../../../test/admin-api.ts'
import { MASTER_KEY, testServer } from '../../../test/server.ts'

const server = await testServer({ ROLLCALL_MAX_PAGE_SIZE: '101' })
afterAll(() => server.close())
const { tokens, get } = await adminCaller(server)

it('settings have their value, default and source, and secrets none', async () => {
  const { status, body } = await get('/settings', tokens.read)
  expect(status).toBe(200)
  const named = (variable: string) => body.find((row: { variable: string }) => row.variable === variable)
  expect(named('ROLLCALL_MAX_PAGE_SIZE')).toEqual({
    variable: 'ROLLCALL_MAX_PAGE_SIZE',
    kind: 'limit',
    value: 101,
    default: 100,
    unit: 'records',
    meaning: LIMITS.page_size.meaning,
    secret: false,
    source: 'environment',
  })
  expect(named('ROLLCALL_ROLE')).toMatchObject({ kind: 'option', value: 'http', source: 'environment' })
  expect(named('LOG_LEVEL')).toMatchObject({ value: 'info', default: 'info', source: 'default' })
  expect(named('ROLLCALL_MASTER_KEY')).toMatchObject({ value: null, secret: true, source: 'environment' })
  expect(JSON.stringify(body)).not.toContain(MASTER_KEY)
})

it('findings say what is weak, and the command that mends it', async () => {
  await server.participant('weak.example', { signature_policy: 'off', allow_unsigned: true })
  const { status, body } = await get('/findings', tokens.read)
  expect(status).toBe(200)
  expect(body).toContainEqual({
    check: 'signatures',
    state: 'weak',
    advice: expect.stringContaining('weak.example'),
    command: 'rollcall participant policy <sender_id> --signature required',
  })
  expect(body).toContainEqual(expect.objectContaining({ check: 'limits', state: 'weak', command: null }))
  expect(body).toContainEqual(expect.objectContaining({ check: 'encoding', state: 'ok', command: null }))
})
