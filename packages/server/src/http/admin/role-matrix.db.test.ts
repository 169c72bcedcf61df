/** Each call, by a token of each role: those that the row does not admit are refused before anything is read. */
import { afterAll, expect, it } from 'vitest'
import { adminCaller } from '../../../test/admin-api.ts'
import { testServer } from '../../../test/server.ts'
import { hasRole, OPERATOR_ROLES } from '../../model/operator.ts'
import { otherMembers, pathMembers } from './route.ts'
import { ADMIN_ROUTES } from './routes.ts'

const server = await testServer()
afterAll(() => server.close())
await server.registry('civil')
await server.registry('social')
const caller = await adminCaller(server)

const pathOf = ({ path }: Pick<(typeof ADMIN_ROUTES)[number], 'path'>, namespace = 'civil'): string =>
  path.replace('{namespace}', namespace).replaceAll(/\{\w+\}/g, 'x')

/** Input that no call accepts: a call that was admitted by mistake changes nothing. */
const bodyOf = ({ method }: Pick<(typeof ADMIN_ROUTES)[number], 'method'>) =>
  method === 'GET' ? undefined : { none: 'of the members' }

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
    const elsewhere = !inPath && Object.hasOwn(otherMembers(route), 'namespace')
    const path = `${pathOf(route, 'social')}${elsewhere && route.method === 'GET' ? '?namespace=social' : ''}`
    const bodies = elsewhere && route.method !== 'GET' ? [{ namespace: 'social' }, {}] : [bodyOf(route)]
    for (const body of bodies) {
      const refused = await caller.refusal(path, body, bound)
      expect(`${route.name}: ${refused}`).toBe(
        `${route.name}: 403 err.request.forbidden the token is bound to other registries`,
      )
    }
  }
})
