/**
 * The guard for every outgoing request: callbacks, access tokens, key sets. It checks the address of the request, and
 * connects only to the IP address that it checked.
 */
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Memo } from '@rollcall/base/shared/memo'
import { type AllowedHost, allowedHosts, bareHost } from '@rollcall/core/model/allowed-hosts'
import type { Agent } from 'undici'
import { assertReachable, readAddress } from './address-rules.ts'
import { type Answer, type GuardedRequest, sendRequest } from './guarded-request.ts'
import { codeOf, RequestFailed } from './problems.ts'

/** A client certificate with its key, PEM. */
export interface ClientIdentity {
  readonly cert: string
  readonly key: string
  /** A digest of both. */
  readonly fingerprint: string
}

/** All addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly string[]>

export interface AddressGuardOptions {
  /** Hosts that the operator allows for one participant beyond the rules. */
  readonly allowed?: readonly AllowedHost[]
  /** Ports that are allowed at every host; 443 by default. */
  readonly ports?: readonly number[]
  readonly resolve?: Resolve
  /** Certificates (PEM) that are trusted instead of those of Node.js. */
  readonly ca?: string
  /** The client certificate for every host that asks for one. */
  readonly identity?: ClientIdentity
  /** Milliseconds for resolving the name, and again for connecting with TLS; the second is exact to about a second. */
  readonly connectTimeoutMs?: number
  /** Open connections to one host and port. */
  readonly connections?: number
}

/** The guard of one participant, with connections that are kept open between requests. */
export interface AddressGuard {
  /** Applies the rules that need no resolver, for an address in a request. @throws {AddressRefused} */
  read(address: string): URL
  /**
   * Applies all rules, for an address that is being registered. A later request applies them again.
   * @throws {AddressRefused}
   * @throws {RequestFailed} the name cannot be resolved
   */
  check(address: string): Promise<void>
  /**
   * Sends one request and reads the whole answer. Redirects are answers like any other and are not followed.
   * @throws {AddressRefused} before a socket is opened
   * @throws {RequestFailed}
   */
  request(address: string, request: GuardedRequest): Promise<Answer>
  /** Ends the kept connections after their current requests. */
  close(): Promise<void>
}

const resolveBySystem: Resolve = async (host) => (await systemLookup(host, { all: true })).map(({ address }) => address)

export function createAddressGuard(options: AddressGuardOptions = {}): AddressGuard {
  const { resolve = resolveBySystem, ports = [443], ca, identity } = options
  const { connectTimeoutMs = 5_000, connections = 8 } = options
  const rules = { ports, allowed: allowedHosts(options.allowed ?? []) }

  /** Resolves a host once. All of its addresses must pass, so any of them can be used. */
  async function reachableAddresses(host: string): Promise<readonly string[]> {
    const resolved = resolve(host).catch((error: unknown) => {
      throw new RequestFailed('unresolved', codeOf(error))
    })
    const addresses = await within(connectTimeoutMs, resolved)
    if (addresses.length === 0) throw new RequestFailed('unresolved')
    assertReachable(addresses, rules.allowed.get(host))
    return addresses
  }

  // Node.js calls this once for each connection to a name, and connects to an address that it returns. It is not called
  // for IP addresses.
  const lookup: LookupFunction = (host, _options, answer) => {
    reachableAddresses(host).then(
      (addresses) =>
        answer(
          null,
          addresses.map((address) => ({ address, family: isIP(address) })),
        ),
      (error: Error) => answer(error, []),
    )
  }
  /** Made for the first request: most of those who check an address send none, and undici takes long to load. */
  const openAgent = async (): Promise<Agent> => {
    const { Agent, buildConnector } = await import('undici')
    const made = new Agent({
      connect: buildConnector({
        lookup,
        // Node.js tries the addresses one after another.
        autoSelectFamily: true,
        timeout: connectTimeoutMs,
        allowH2: false,
        rejectUnauthorized: true,
        ...(ca === undefined ? {} : { ca }),
        ...(identity === undefined ? {} : { cert: identity.cert, key: identity.key }),
      }),
      connections,
      pipelining: 1,
      maxHeaderSize: 16_384,
    })
    // A closed guard sends nothing, even if it has never sent anything.
    if (closing !== undefined) await made.close()
    return made
  }

  let agent: Promise<Agent> | undefined
  let closing: Promise<void> | undefined
  return {
    read: (address) => readAddress(address, rules),
    async check(address) {
      const host = bareHost(readAddress(address, rules))
      if (isIP(host) === 0) await reachableAddresses(host)
    },
    async request(address, request) {
      const url = readAddress(address, rules)
      agent ??= openAgent()
      return sendRequest(await agent, url, request)
    },
    close() {
      closing ??= agent === undefined ? Promise.resolve() : agent.then((made) => made.close())
      return closing
    },
  }
}

/** Limits a resolver, which has no timeout of its own. After a late answer, no socket is opened. */
async function within<Value>(timeoutMs: number, promise: Promise<Value>): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new RequestFailed('timeout')), timeoutMs)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The owner of a guard. */
export interface GuardOwner {
  readonly id: number
  readonly outgoing: readonly AllowedHost[]
}

export interface Guards {
  /** @param identity our client certificate; its connections are used for nothing else */
  of(participant: GuardOwner, identity?: ClientIdentity): AddressGuard
  /** Ends all kept connections, after the requests that are under way. */
  close(): Promise<void>
}

/**
 * One guard for each participant, kept as long as the allowed hosts stay the same.
 * @param options the options for all participants
 */
export function createGuards(options: Omit<AddressGuardOptions, 'allowed'> = {}): Guards {
  // A replaced guard lets its requests end, and accepts no others.
  const guards = new Memo<AddressGuard>((guard) => void guard.close().catch(() => undefined))
  return {
    of({ id, outgoing }, identity) {
      const owner = identity === undefined ? id : `${id} with a certificate`
      const source = JSON.stringify([outgoing, identity?.fingerprint ?? null])
      return guards.of(owner, source, () =>
        createAddressGuard({ ...options, allowed: outgoing, ...(identity !== undefined && { identity }) }),
      )
    },
    async close() {
      await Promise.all(guards.clear().map((guard) => guard.close()))
    },
  }
}
