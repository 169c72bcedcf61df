/** Starts a node, with its listeners and its work, and stops it cleanly. */
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { publishOutbox } from '@rollcall/admin/events/outbox'
import { isLoopback } from '@rollcall/base/shared/loopback'
import { CONSOLE_FILES, PARTNER_FILES } from '@rollcall/console'
import type { SchemaLead } from '@rollcall/database/schema-version'
import { answerAccepted } from '@rollcall/engine/exchange/answer-accepted'
import { startWhenMessagesReleased } from '@rollcall/engine/work/held'
import { type RunningWorker, startWorker } from '@rollcall/engine/work/worker'
import { loadHttpClient } from '@rollcall/participants/egress/address-guard'
import { unreachableRegistries } from '@rollcall/records/records/registry-records'
import { listRegistries } from '@rollcall/records/registries/registries'
import { isOperatorHost, isReachedByTls, listenerUrl } from '@rollcall/settings/addresses'
import type { Config, NodeRole } from '@rollcall/settings/config'
import type { OperatorListener } from '../http/admin/authenticate.ts'
import { addAdminRoutes } from '../http/admin/mount-routes.ts'
import { addOperatorSessionRoutes } from '../http/admin/session-routes.ts'
import { addConsole, addPartnerPage } from '../http/console.ts'
import { addCors } from '../http/cors.ts'
import { addLandingRoutes } from '../http/landing.ts'
import { addTokenRoute, addTokenRouteAtOperatorPort } from '../http/oauth.ts'
import type { IsOperatorListenerHost } from '../http/operator-host.ts'
import { addSiteFiles } from '../http/page.ts'
import { addHealthRoutes, addKeySetRoutes, addMetricsRoute } from '../http/pages.ts'
import { addPartnerRoutes } from '../http/partner/mount-routes.ts'
import type { PartnerListener } from '../http/partner/session-routes.ts'
import { addProtocolRoutes } from '../http/protocol-routes.ts'
import { addReferenceRoutes } from '../http/reference.ts'
import { createHttpServer, type HttpServer } from '../http/server.ts'
import type { DemoContent, HasDemoContent } from '../http/showcase.ts'
import type { Context } from './context.ts'
import { startHousekeeping } from './housekeeping.ts'

export interface RunningServer {
  /**
   * The port of each listener: as configured, or a free port if 0 is configured. `port` is 0 for a worker, which does not listen
   * for peers.
   */
  readonly port: number
  readonly adminPort: number
  /** Resolves when a newer Rollcall has migrated the database so far that this node must stop. */
  readonly outdated: Promise<SchemaLead>
  /** Gives the pages of both listeners the content of a demo. */
  show(showcase: DemoContent): void
  /**
   * Lets `/ready` answer 200 from now on, as long as the database answers and this version can use its schema. If the node has a
   * worker, the worker's last polls must have succeeded too, unless it waits for `rollcall restore release`.
   */
  markReady(): void
  /** Stops the node: it takes nothing new, finishes what it can within the stop time, and closes. */
  stop(): Promise<void>
}

export type ListenerName = 'peers' | 'operator'

/** A listener could not be opened; `cause` says why. */
export class ListenFailed extends Error {
  override readonly name = 'ListenFailed'
  readonly listener: ListenerName

  constructor(listener: ListenerName, cause: unknown) {
    super(`the listener for ${listener} could not be opened`, { cause })
    this.listener = listener
  }
}

/**
 * Starts the listeners and the work of the node's role. The caller closes the database after `stop`.
 * @param pause waits so many milliseconds. `stop` calls it: meanwhile `/ready` answers 503 and connections are still accepted
 * @param housekeeping starts the regular background tasks
 * @throws ListenFailed, and what connecting to the database throws
 */
export async function startServer(
  config: Config,
  context: Context,
  {
    pause = sleep,
    housekeeping = startHousekeeping,
  }: { readonly pause?: (milliseconds: number) => Promise<unknown>; readonly housekeeping?: typeof startHousekeeping } = {},
): Promise<RunningServer> {
  let ready = false
  let worker: RunningWorker | null = null
  const does = DUTIES_BY_ROLE[config.role]
  const isReady = async (): Promise<boolean> =>
    ready && context.schema.isUsable() && (!does.works || worker?.working() === true) && context.databaseHealth.isReady()
  let showcase: DemoContent | null = null
  const shown: HasDemoContent = { showcase: () => showcase, isLoopback }
  const publicServer = does.answers ? createPublicServer(config, context, { isReady, shown }) : null
  const operatorServer = createOperatorServer(config, context, { isReady, shown })
  const stopHousekeeping = housekeeping(context)
  const stop = async (): Promise<void> => {
    const wasReady = ready
    ready = false
    // Load balancers need time to see the 503 and to send nothing more, before connections are refused.
    if (wasReady && does.answers) await pause(context.limits.drain_time * 1_000)
    await Promise.all([publicServer?.close(), worker?.stop()])
    await waitForAttempts(context)
    // The operator's listener closes last, because it reports the state of the node.
    await operatorServer.close()
    await closeParts(context, stopHousekeeping)
  }
  try {
    await openListener('operator', operatorServer, { host: config.adminHost, port: config.adminPort })
    if (publicServer !== null) await openListener('peers', publicServer, { host: config.host, port: config.port })
    if (does.works) worker = await startWhenMessagesReleased({ ...context, start: () => startWork(context) })
  } catch (error) {
    await stop()
    throw error
  }
  const markReady = (): void => {
    ready = true
  }
  const show = (shown: DemoContent): void => {
    showcase = shown
  }
  const { role, host, adminHost } = config
  const port = publicServer === null ? 0 : portOf(publicServer)
  const adminPort = portOf(operatorServer)
  if (does.answers) context.ownListener.listensAt(listenerUrl(host, port))
  context.log.info({ role, ...(does.answers && { host, port }), adminHost, adminPort }, 'listening')
  return { port, adminPort, outdated: context.schema.outdated, show, markReady, stop }
}

/**
 * Waits until the running attempts at deliveries have ended, so that they are recorded, but no longer than the stop time. The
 * claim of an attempt that takes longer expires, and the delivery is attempted again.
 */
async function waitForAttempts({ limiter, limits }: Context): Promise<void> {
  await Promise.race([limiter.idle(), sleep(limits.stop_time * 1_000, undefined, { ref: false })])
}

/** Stops background work and closes connections. The audit log closes last: the other parts may write entries when they stop. */
async function closeParts(context: Context, stopHousekeeping: () => Promise<void>): Promise<void> {
  await Promise.all([context.verifying.stop(), context.indexing.stop()])
  await context.refusals.flush()
  await Promise.all([stopHousekeeping(), context.guards.close(), context.authorityGuards.close(), context.openId?.close()])
  await context.auditLog.close()
}

/** Starts a node's work: on accepted requests, deliveries and the event outbox, and on the copies of records from sources. */
async function startWork(context: Context): Promise<RunningWorker> {
  await loadHttpClient()
  const worker = await startWorker({
    ...context,
    answer: (exchange, signal) => answerAccepted(context, exchange, signal),
    publishOutbox: (signal) => publishOutbox(context, signal),
  })
  // This module is imported only here, because it takes time to load: commands that only print a help text do not need it.
  const { startFollowers } = await import('@rollcall/source/mirror/followers')
  const followers = startFollowers({
    ...context,
    env: process.env,
    registries: () => listRegistries(context.db),
    wake: context.sourcesWake,
  })
  return { working: worker.working, stop: async () => void (await Promise.all([worker.stop(), followers.stop()])) }
}

/** Whether a node of each role answers peers, and whether it works on accepted requests. */
const DUTIES_BY_ROLE: Readonly<Record<NodeRole, { readonly answers: boolean; readonly works: boolean }>> = {
  http: { answers: true, works: false },
  worker: { answers: false, works: true },
  all: { answers: true, works: true },
}

async function openListener(
  listener: ListenerName,
  server: HttpServer,
  address: { readonly host: string; readonly port: number },
): Promise<void> {
  await server.listen(address).catch((error: unknown) => {
    throw new ListenFailed(listener, error)
  })
}

function createPublicServer(
  config: Config,
  context: Context,
  { isReady, shown }: { readonly isReady: () => Promise<boolean>; readonly shown: HasDemoContent },
): HttpServer {
  const server = createHttpServer(context)
  addCors(server, context)
  addHealthRoutes(server, isReady)
  addTokenRoute(server, context, { queryParameters: config.tokenQueryParameters })
  addKeySetRoutes(server, context)
  addProtocolRoutes(server, context)
  addSiteFiles(server)
  const pages = { ...shown, directory: context.directory, partnerPage: config.partnerPage }
  addLandingRoutes(server, pages)
  if (config.partnerPage) {
    const listener: PartnerListener = {
      isReachedByTls: ({ headers }) => isReachedByTls(config, headers),
      isDemo: () => shown.showcase() !== null,
      sampleOf: (namespace) => shown.showcase()?.samples.get(namespace)?.[0] ?? null,
    }
    addPartnerRoutes(server, context, listener)
    addPartnerPage(server, PARTNER_FILES)
  }
  addReferenceRoutes(server, pages)
  return server
}

function createOperatorServer(
  config: Config,
  context: Context,
  { isReady, shown }: { readonly isReady: () => Promise<boolean>; readonly shown: HasDemoContent },
): HttpServer {
  // The access log of this listener has the level debug, because calls of the admin API have lines of their own.
  const server = createHttpServer({ ...context, accessLevel: 'debug' })
  addHealthRoutes(server, isReady, { schema: context.schema.lead, away: () => unreachableRegistries(context.db) })
  addTokenRouteAtOperatorPort(server)
  const isOwnHost: IsOperatorListenerHost = (header, local) => isOperatorHost(config, header, local)
  addMetricsRoute(server, context.metrics, isOwnHost)
  const listener: OperatorListener = {
    isOwnHost,
    isReachedByTls: ({ headers }) => isReachedByTls(config, headers),
    showcase: shown.showcase,
  }
  addAdminRoutes(server, context, listener)
  addOperatorSessionRoutes(server, context, listener)
  addConsole(server, { folder: CONSOLE_FILES, isOwnHost })
  return server
}

function portOf(server: HttpServer): number {
  return (server.server.address() as AddressInfo).port
}
