/** Each call, by a token of each role: those that the row does not admit are refused before anything is read. */

import { hasRole, OPERATOR_ROLES } from '@rollcall/core/model/operator'
import { afterAll, expect, it } from 'vitest'
import { grant } from '../../../../participants/test/grants.ts'
import { adminCaller } from '../../../test/admin-api.ts'
import { testServer } from '../../../test/server.ts'
import { pathMembers, queryOrBodyMembers } from './route.ts'
import { ADMIN_ROUTES } from './routes.ts'

const server = await testServer()
afterAll(() => server.close())
await server.registry('civil')
await server.registry('social')
const caller = await adminCaller(server)

const pathOf = ({ path }: Pick<(typeof ADMIN_ROUTES)[number], 'path'>, namespace = 'civil'): string =>
  path.replace('{namespace}', namespace).replaceAll(/\{\w+\}/g, 'x')

/** The members by which a call names a participant. */
const NAMES = ['sender_id', 'participant']

/** Input that no call accepts: a call that was admitted by mistake changes nothing. */
const bodyOf = ({ method }: Pick<(typeof ADMIN_ROUTES)[number], 'method'>) =>
  method === 'GET' ? undefined : { none: 'of the members' }

const isOfParticipant = (name: string): boolean => NAMES.includes(name)

/** Whether a token that is bound to a registry may call it. */
const isBindable = (route: (typeof ADMIN_ROUTES)[number]): boolean =>
  pathMembers(route).includes('namespace') || Object.hasOwn(queryOrBodyMembers(route), 'namespace')

it('a role that the row does not admit is refused', async () => {
  for (const route of ADMIN_ROUTES) {
    for (const role of OPERATOR_ROLES) {
      if (hasRole({ roles: [role] }, route.role)) continue
      const refused = await caller.refusal(pathOf(route), bodyOf(route), caller.tokens[role])
      expect(`${route.name} by ${role}: ${refused}`).toBe(
        `${route.name} by ${role}: 403 err.request.forbidden this call needs the role ${route.role}`,
      )
    }
  }
})

it('a token that is bound to registries is refused for other ones, and where a call is of no single one', async () => {
  const bound = await caller.token('bound', ['own'], ['civil'])
  for (const route of ADMIN_ROUTES) {
    const inPath = pathMembers(route).includes('namespace')
    const elsewhere = !inPath && Object.hasOwn(queryOrBodyMembers(route), 'namespace')
    const path = `${pathOf(route, 'social')}${elsewhere && route.method === 'GET' ? '?namespace=social' : ''}`
    const bodies = elsewhere && route.method !== 'GET' ? [{ namespace: 'social' }, {}] : [bodyOf(route)]
    for (const body of bodies) {
      const refused = await caller.refusal(path, body, bound)
      expect(`${route.name}: ${refused}`).toBe(`${route.name}: 403 err.request.forbidden the token is bound to other registries`)
    }
  }
})

it('a token that is bound to registries learns of no participant of others', async () => {
  for (const namespace of ['civil', 'social']) {
    const sender_id = `only.${namespace}.example`
    await caller.post('/participants', { sender_id, name: sender_id })
    await grant(server.database, sender_id, namespace, {})
  }
  const bound = await caller.token('bound-operator', ['operate', 'audit'], ['civil'])
  const named = ADMIN_ROUTES.filter(
    (route) => isBindable(route) && [...pathMembers(route), ...Object.keys(queryOrBodyMembers(route))].some(isOfParticipant),
  ).filter(({ role }) => role !== 'own')
  expect(named.length).toBeGreaterThan(10)
  for (const route of named) {
    const asked = (sender_id: string) => {
      const given = Object.fromEntries(
        Object.keys(queryOrBodyMembers(route)).flatMap((name) => {
          if (isOfParticipant(name)) return [[name, sender_id]]
          return name === 'namespace' ? [[name, 'civil']] : []
        }),
      )
      const path = pathOf(route).replace(/\/(grants|participants)\/x/, `/$1/${sender_id}`)
      return route.method === 'GET'
        ? caller.refusal(`${path}?${new URLSearchParams(given)}`, undefined, bound)
        : caller.refusal(path, given, bound)
    }
    const unknown = await asked('nobody.example')
    expect(`${route.name}: ${unknown}`).toBe(
      `${route.name}: 404 err.request.not_found no participant has sender_id nobody.example`,
    )
    const elsewhere = await asked('only.social.example')
    expect(`${route.name}: ${elsewhere}`).toBe(`${route.name}: ${unknown.replace('nobody', 'only.social')}`)
  }
  const known = await caller.get('/deliveries?namespace=civil&participant=only.civil.example', bound)
  expect([known.status, known.body]).toEqual([200, []])
})

it('what reads much says so', () => {
  const heavy = ADMIN_ROUTES.flatMap((route) => (route.heavy === undefined ? [] : [[route.name, route.heavy]]))
  expect(Object.fromEntries(heavy)).toEqual({
    listMessages: 'auditLog',
    listAccounts: 'auditLog',
    proposeGrant: 'auditLog',
    countPrunable: 'prunable',
    checkRegistrySource: 'sources',
  })
})
