/** Calls of the admin API in tests: a token for each role, and answers with their body read. */
import { addOperator, OPERATOR_ROLES, type OperatorRole } from '@rollcall/admin/operators/operators'
import { acting } from '../../admin/test/acting.ts'
import { ADMIN_BASE } from '../src/http/admin/route.ts'
import { type Answer, answerOf, type TestServer } from './server.ts'

export interface AdminCaller {
  /** A token of all registries, by role. */
  readonly tokens: Readonly<Record<OperatorRole, string>>
  token(name: string, roles: readonly OperatorRole[], registries?: readonly string[]): Promise<string>
  get(path: string, token?: string): Promise<Answer>
  /** Sends a POST with a JSON body. */
  post(path: string, body: object, token?: string): Promise<Answer>
  /** Makes a call that must be refused: a POST if it has a body. Returns status, code and message of the refusal. */
  refusal(path: string, body: object | undefined, token?: string): Promise<string>
}

/** Makes a token for each role, and functions that call the admin API: with the token of `own` unless one is given. */
export async function adminCaller(server: Pick<TestServer, 'adminUrl' | 'database'>): Promise<AdminCaller> {
  const token: AdminCaller['token'] = async (name, roles, registries) =>
    (await addOperator(acting(server.database), { name, roles, registries })).token
  const pairs: [OperatorRole, string][] = []
  for (const role of OPERATOR_ROLES) pairs.push([role, await token(`test-${role}`, [role])])
  const tokens = Object.fromEntries(pairs) as Record<OperatorRole, string>
  const call = async (path: string, body: object | undefined, bearer: string): Promise<Answer> =>
    answerOf(
      await fetch(`${server.adminUrl}${ADMIN_BASE}${path}`, {
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
        headers: { Authorization: `Bearer ${bearer}`, ...(body && { 'Content-Type': 'application/json' }) },
      }),
    )
  return {
    tokens,
    token,
    get: (path, bearer = tokens.own) => call(path, undefined, bearer),
    post: (path, body, bearer = tokens.own) => call(path, body, bearer),
    async refusal(path, body, bearer = tokens.own) {
      const { status, body: answered } = await call(path, body, bearer)
      const [error] = answered.errors
      return `${status} ${error.code} ${error.message}`
    },
  }
}
