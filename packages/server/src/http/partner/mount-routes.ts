/** Mounts the partner API on the peers' listener: a route for each row of `PARTNER_ROUTES`, with the steps of a call. */

import { NO_APPROVAL_NEEDED } from '@rollcall/admin/act'
import { AdminRefusal } from '@rollcall/admin/admin-function'
import type { PartnerDeps } from '@rollcall/admin/partner/partner'
import type { Throttle } from '@rollcall/participants/admission/throttle'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type InputLimits, readInput } from '../admin/read-input.ts'
import { asRequestFault } from '../admin/refusal.ts'
import { sendJson } from '../answer.ts'
import { type PageSessions, tooManyFault } from '../page-sessions.ts'
import { type HttpServer, mountCalls } from '../server.ts'
import { PARTNER_BASE, type PartnerRoute, partnerInputLimits } from './route.ts'
import { PARTNER_ROUTES } from './routes.ts'
import {
  addPartnerSessionRoutes,
  createPartnerPageSessions,
  type PartnerListener,
  type PartnerSessionDeps,
} from './session-routes.ts'

type PartnerRouteDeps = Omit<PartnerDeps, 'sender_id' | 'mayReplay' | 'sampleOf' | 'caller' | 'approvals'> &
  PartnerSessionDeps & {
    readonly limits: InputLimits
    /** Limits the calls of each participant: a call beyond MOST_PARTNER_PAGE_CALLS in a minute is refused with 429. */
    readonly partnerCalls: Throttle
    /** Limits the deliveries that are sent again on request: MOST_PARTNER_DELIVERY_REPLAYS a minute for each participant. */
    readonly partnerReplays: Throttle
  }

export function addPartnerRoutes(app: HttpServer, deps: PartnerRouteDeps, listener: PartnerListener): void {
  addPartnerSessionRoutes(app, deps, listener)
  const page = createPartnerPageSessions(deps, listener)
  mountCalls(
    app,
    PARTNER_BASE,
    PARTNER_ROUTES,
    (route) => (request, reply) => answerPartnerCall(deps, page, listener, route, request, reply),
  )
}

async function answerPartnerCall(
  deps: PartnerRouteDeps,
  page: PageSessions<string>,
  listener: PartnerListener,
  route: PartnerRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  // Authenticates the caller and counts the call.
  const { owner: sender_id } = await page.signedIn(request)
  deps.requestGate.noteParticipant(request.raw, sender_id)
  countCallsOrDeliveries(deps.partnerCalls, sender_id, 1, 'calls')

  // Reads the input, runs the call and answers.
  const input = await readInput(route, request, partnerInputLimits(deps))
  const mayReplay = (deliveries: number): void => {
    countCallsOrDeliveries(deps.partnerReplays, sender_id, deliveries, 'deliveries')
    deps.log.info({ participant: sender_id, deliveries, act: 'asked for deliveries again' }, 'partner page')
  }
  try {
    const who = { sender_id, caller: { kind: 'participant', sender_id }, approvals: NO_APPROVAL_NEEDED } as const
    const result = await route.call({ ...deps, sampleOf: listener.sampleOf, ...who, mayReplay }, input)
    sendJson(reply, route.status, JSON.stringify(result))
  } catch (error) {
    throw error instanceof AdminRefusal ? asRequestFault(error) : error
  }
}

/**
 * Counts calls or deliveries of a participant.
 * @param more how many are counted now
 * @param what `calls` or `deliveries`, for the message
 * @throws RequestFault 429 the limit is reached
 */
function countCallsOrDeliveries(throttle: Throttle, sender_id: string, more: number, what: string): void {
  const retryAfter = throttle.wait(sender_id, more)
  if (retryAfter > 0) throw tooManyFault(`${what} of this participant`, retryAfter)
  throttle.fail(sender_id, more)
}
