/** Signing in to the console and out: a session in a cookie, which only the pages of the console can use. */

import { accountOperator } from '@rollcall/admin/accounts/operator-looks'
import { hasRole, OPERATOR_ROLES } from '@rollcall/core/model/operator'
import { unauthorized } from '@rollcall/engine/exchange/authenticate'
import type { OperatorSession } from '@rollcall/participants/directory/operator-sessions'
import { RequestFault, validator } from '@rollcall/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { sendFault, sendJson } from '../answer.ts'
import { checkOperatorHost } from '../operator-host.ts'
import { type HttpServer, mountMethods } from '../server.ts'
import type { Authenticating, OperatorListener } from './authenticate.ts'
import { type Call, logged } from './call-log.ts'
import { CONSOLE_SESSION } from './console-session.ts'
import { addOpenIdRoutes, OPENID_START } from './openid-routes.ts'
import { readInput } from './read-input.ts'
import { ADMIN_BASE, type DescribedCall } from './route.ts'
import { admit, checkFailures, type SessionParts, sessionIn } from './session-admission.ts'
import { SESSION_CALLS } from './session-calls.ts'

type Work = (request: FastifyRequest, reply: FastifyReply, call: Call) => Promise<void>

export function addSessionRoutes(app: HttpServer, parts: SessionParts, listener: OperatorListener): void {
  const row = ({ method, name, deprecated }: DescribedCall, work: Work) => ({
    method,
    name,
    deprecated,
    handler: (request: FastifyRequest, reply: FastifyReply) =>
      logged(parts, name, request, (call) => {
        checkOperatorHost(listener.isOwnHost, request.raw)
        return work(request, reply, call)
      }),
  })
  const { begin, show, end } = SESSION_CALLS
  mountMethods(app, `${ADMIN_BASE}${begin.path}`, [
    row(begin, (request, reply, call) => beginSession(parts, listener, request, reply, call)),
    row(show, (request, reply, call) => showSession(parts, listener, request, reply, call)),
  ])
  mountMethods(app, `${ADMIN_BASE}${end.path}`, [
    row(end, (request, reply, call) => endSession(parts, listener, request, reply, call)),
  ])
  if (parts.openId !== null) addOpenIdRoutes(app, parts, parts.openId, listener)
}

/** @throws RequestFault 400, 401, 403, 413, 415, 429 */
async function beginSession(
  parts: SessionParts,
  listener: OperatorListener,
  request: FastifyRequest,
  reply: FastifyReply,
  call: Call,
): Promise<void> {
  const { raw, headers } = request
  // Another page must not sign somebody in here, as somebody else.
  CONSOLE_SESSION.checkOwn(headers)
  checkFailures(parts, raw)
  const shown = readShown(await readInput(SESSION_CALLS.begin, request, parts.limits))

  const token = await tokenOf(parts, shown)
  const begun = token === null ? null : await parts.sessions.begin({ token })
  if (begun === null) {
    parts.signInFailures.fail(parts.gate.unit(raw))
    throw unauthorized(SHOWN[shown.by].refusal)
  }
  const cookie = await admit(parts, listener, { request, call }, { ...begun, note: SHOWN[shown.by].note })
  const body = JSON.stringify(await described(parts, listener, begun.session))
  sendJson(reply, SESSION_CALLS.begin.status, body, { 'Set-Cookie': cookie })
}

/** Signed out it says how to sign in. */
async function showSession(
  parts: SessionParts,
  listener: OperatorListener,
  { raw, headers }: FastifyRequest,
  reply: FastifyReply,
  call: Call,
): Promise<void> {
  const cookie = CONSOLE_SESSION.read(raw, listener.isReachedByTls(raw))
  const { acts } = CONSOLE_SESSION.checkOwn(headers)
  const session = cookie === null ? null : await parts.sessions.sessionOf(cookie, acts)
  if (session !== null) {
    call.session = session
    call.operator = session.operator
    sendJson(reply, 200, JSON.stringify(await described(parts, listener, session)))
    return
  }
  const fault = unauthorized('Cookie: nobody is signed in; sign in first')
  // Opening the sign-in page is no failure, but a cookie that is not good is.
  const answered = cookie === null ? fault : parts.gate.refused(raw, fault)
  sendFault(reply, answered, {}, { sign_in: waysIn(parts), demo: listener.isDemo() })
}

/** What has ended already is ended: the browser forgets its cookie. */
async function endSession(
  parts: SessionParts,
  listener: OperatorListener,
  request: FastifyRequest,
  reply: FastifyReply,
  call: Call,
): Promise<void> {
  const { raw, headers } = request
  const byTls = listener.isReachedByTls(raw)
  CONSOLE_SESSION.checkOwn(headers)
  await readInput(SESSION_CALLS.end, request, parts.limits)
  const session = await sessionIn(parts, CONSOLE_SESSION.read(raw, byTls))
  if (session !== null) {
    call.session = session
    call.operator = session.operator
    await parts.sessions.end(session)
    const { name } = session.operator
    await accountOperator({ accounts: parts.accounts, operator: name }, { note: 'operator sign-out' })
  }
  sendJson(reply, SESSION_CALLS.end.status, '{}', { 'Set-Cookie': CONSOLE_SESSION.ended(byTls) })
}

type BeginInput = Static<(typeof SESSION_CALLS.begin)['input']>

/** What somebody can show to sign in. */
const SHOWN = {
  token: {
    note: 'operator sign-in by token',
    refusal: 'token: is not valid here, has expired or was revoked',
    tokenOf: async ({ operators }: Authenticating, token: string) => (await operators.operatorOf(token))?.id ?? null,
  },
  code: {
    note: 'operator sign-in by link',
    refusal: 'code: is not valid here, was used before or has expired; ask for a new link',
    tokenOf: ({ sessions }: Authenticating, code: string) => sessions.spendCode(code),
  },
} as const

interface Shown {
  readonly by: keyof typeof SHOWN
  readonly secret: string
}

const tokenOf = (parts: Authenticating, { by, secret }: Shown): Promise<number | null> =>
  SHOWN[by].tokenOf(parts, secret)

const inputs = validator(SESSION_CALLS.begin.input)

/** @throws RequestFault 400 */
function readShown(input: object): Shown {
  const problem = inputs.firstProblem(input)
  if (problem !== null) throw bad(`${problem.at.join('.')}: ${problem.rule}`)
  const [given, ...more] = (['token', 'code'] as const).flatMap((by) => {
    const { [by]: secret } = input as BeginInput
    return secret === undefined ? [] : [{ by, secret }]
  })
  if (given === undefined || more.length > 0) throw bad('token: must be given, or code in place of it')
  return given
}

const bad = (message: string): RequestFault => new RequestFault('err.request.bad', message)

async function described(parts: SessionParts, { isDemo }: OperatorListener, { operator, ends_at }: OperatorSession) {
  const { directory, limits, twoPerson } = parts
  const { name, registries } = operator
  const bound = registries && (await directory.registries()).filter(({ id }) => registries.includes(id))
  return {
    operator: name,
    roles: OPERATOR_ROLES.filter((role) => hasRole(operator, role)),
    registries: bound?.map(({ namespace }) => namespace) ?? null,
    expires_at: ends_at.toISOString(),
    idle_seconds: limits.session_idle,
    two_person: twoPerson,
    demo: isDemo(),
    sign_in: waysIn(parts),
  }
}

const waysIn = ({ openId }: Pick<SessionParts, 'openId'>) => [
  { method: 'token', title: 'Token of the admin API', start: null },
  ...(openId === null ? [] : [{ method: 'openid', title: openId.title, start: OPENID_START }]),
]
