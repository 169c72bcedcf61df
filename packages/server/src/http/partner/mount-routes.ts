/** The partner API on the peers' listener: a route for each row of its table. The life of a call is on this screen. */

import { ONE_OPERATOR } from '@rollcall/admin/act'
import type { PartnerNeeds } from '@rollcall/admin/partner/partner'
import { AdminRefusal } from '@rollcall/admin/use-case'
import type { Throttle } from '@rollcall/participants/admission/throttle'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type InputLimits, readInput } from '../admin/read-input.ts'
import { asRequestFault } from '../admin/refusal.ts'
import { sendJson } from '../answer.ts'
import { type HttpServer, type MethodHandler, mountMethods } from '../server.ts'
import { type SessionPage, tooManyWithin } from '../session-page.ts'
import { inputLimits, PARTNER_BASE, type PartnerRoute } from './route.ts'
import { PARTNER_ROUTES } from './routes.ts'
import {
  addPartnerSessionRoutes,
  type PartnerListener,
  type PartnerSessionParts,
  partnerPageOf,
} from './session-routes.ts'

type PartnerParts = Omit<PartnerNeeds, 'sender_id' | 'mayReplay' | 'sampleOf' | 'caller' | 'approvals'> &
  PartnerSessionParts & {
    readonly limits: InputLimits
    /** Calls of a participant. */
    readonly partnerCalls: Throttle
    /** Deliveries that a participant asked for again. */
    readonly partnerReplays: Throttle
  }

export function addPartnerRoutes(app: HttpServer, parts: PartnerParts, listener: PartnerListener): void {
  addPartnerSessionRoutes(app, parts, listener)
  const page = partnerPageOf(parts, listener)
  const handlers = new Map<string, MethodHandler[]>()
  for (const route of PARTNER_ROUTES) {
    const { method, name, path, deprecated } = route
    const rows = handlers.get(path) ?? []
    handlers.set(path, rows)
    rows.push({
      method,
      name,
      deprecated,
      handler: (request, reply) => answer(parts, page, listener, route, request, reply),
    })
  }
  for (const [path, rows] of handlers) {
    mountMethods(app, `${PARTNER_BASE}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`, rows)
  }
}

async function answer(
  parts: PartnerParts,
  page: SessionPage<string>,
  listener: PartnerListener,
  route: PartnerRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  // Authenticates the caller and counts the call.
  const { owner: sender_id } = await page.signedIn(request)
  parts.gate.identified(request.raw, sender_id)
  count(parts.partnerCalls, sender_id, 1, 'calls')

  // Reads the input, runs the call and answers.
  const input = await readInput(route, request, inputLimits(parts))
  const mayReplay = (deliveries: number): void => {
    count(parts.partnerReplays, sender_id, deliveries, 'deliveries')
    parts.log.info({ participant: sender_id, deliveries, act: 'asked for deliveries again' }, 'partner page')
  }
  try {
    const who = { sender_id, caller: { kind: 'participant', sender_id }, approvals: ONE_OPERATOR } as const
    const result = await route.call({ ...parts, sampleOf: listener.sampleOf, ...who, mayReplay }, input)
    sendJson(reply, route.status, JSON.stringify(result))
  } catch (error) {
    throw error instanceof AdminRefusal ? asRequestFault(error) : error
  }
}

/** @throws RequestFault 429 */
function count(throttle: Throttle, sender_id: string, more: number, what: string): void {
  const retryAfter = throttle.wait(sender_id, more)
  if (retryAfter > 0) throw tooManyWithin(`${what} of this participant`, retryAfter)
  throttle.fail(sender_id, more)
}
