/**
 * The address guard sends outgoing requests, such as those for callbacks, access tokens and key sets. It checks the
 * address of the request, and connects only to the IP address that it has checked.
 */
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Memo } from '@rollcall/base/shared/memo'
import { type AllowedHost, hostsByName, hostWithoutBrackets } from '@rollcall/core/model/allowed-hosts'
import type { Agent } from 'undici'
import { checkAddressesAllowed, readAddress } from './address-rules.ts'
import { type GuardedAnswer, type GuardedRequest, sendRequest } from './guarded-request.ts'
import { errorCodeOf, RequestFailed } from './problems.ts'

/** A client certificate and its private key, both PEM. */
export interface ClientIdentity {
  readonly cert: string
  readonly key: string
  /** A digest of certificate and key, by which a changed identity is noticed. */
  readonly fingerprint: string
}

/** Resolves a host name to all of its IP addresses. */
export type ResolveHost = (host: string) => Promise<readonly string[]>

export interface AddressGuardOptions {
  /** Hosts to which the operator allows requests that the rules would refuse. */
  readonly allowed?: readonly AllowedHost[]
  /** The allowed ports of each host to which `allowed` gives no `ports`; only 443 by default. */
  readonly ports?: readonly number[]
  readonly resolve?: ResolveHost
  /** Certificates (PEM) of the authorities that are trusted in place of those of Node.js. */
  readonly ca?: string
  /** The client certificate, shown to every host that asks for one. */
  readonly identity?: ClientIdentity
  /**
   * The most milliseconds for a connection: for resolving the name, connecting and TLS together, exact to about a second. The
   * same limit holds for `check`, which only resolves the name.
   */
  readonly connectTimeoutMs?: number
  /** The most open connections to one host and port. */
  readonly connections?: number
}

/** The address guard of one owner, such as a participant. Its connections stay open between requests. */
export interface AddressGuard {
  /** Parses an address of a request, and checks it by the rules that need no resolver. @throws {AddressRefused} */
  read(address: string): URL
  /**
   * Checks by all rules an address that somebody registers. Each request checks it again.
   * @throws {AddressRefused}
   * @throws {RequestFailed} the name cannot be resolved
   */
  check(address: string): Promise<void>
  /**
   * Sends one request and reads the whole answer. A redirect is returned as an answer and is not followed.
   * @throws {AddressRefused} before a socket is opened
   * @throws {RequestFailed}
   */
  request(address: string, request: GuardedRequest): Promise<GuardedAnswer>
  /** Closes the open connections when their current requests have ended. */
  close(): Promise<void>
}

const resolveBySystem: ResolveHost = async (host) => (await systemLookup(host, { all: true })).map(({ address }) => address)

/** Loads undici, which takes about 0.1 seconds: a node that sends callbacks loads it before the first one. */
export const loadHttpClient = () => import('undici')

export function createAddressGuard(options: AddressGuardOptions = {}): AddressGuard {
  const { resolve = resolveBySystem, ports = [443], ca, identity } = options
  const { connectTimeoutMs = 5_000, connections = 8 } = options
  const rules = { ports, allowed: hostsByName(options.allowed ?? []) }

  /** Resolves a host once, and checks every address. All must pass, so a connection may use any of them. */
  async function reachableAddresses(host: string): Promise<readonly string[]> {
    const resolved = resolve(host).catch((error: unknown) => {
      throw new RequestFailed('unresolved', errorCodeOf(error))
    })
    const addresses = await withTimeLimit(connectTimeoutMs, resolved)
    if (addresses.length === 0) throw new RequestFailed('unresolved')
    checkAddressesAllowed(addresses, rules.allowed.get(host))
    return addresses
  }

  // Node.js calls this function once for each connection to a name, and connects to an address that it returns. Node.js
  // does not call it for a host that is an IP address.
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
  /** The agent is made for the first request: most guards only check addresses, and undici takes long to load. */
  const openAgent = async (): Promise<Agent> => {
    const { Agent, buildConnector } = await loadHttpClient()
    const made = new Agent({
      connect: buildConnector({
        lookup,
        // Node.js tries the addresses of a host one after another.
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
    // When `close` was called before, this agent is closed at once, so that it refuses the request.
    if (closing !== undefined) await made.close()
    return made
  }

  let agent: Promise<Agent> | undefined
  let closing: Promise<void> | undefined
  return {
    read: (address) => readAddress(address, rules),
    async check(address) {
      const host = hostWithoutBrackets(readAddress(address, rules))
      if (isIP(host) === 0) await reachableAddresses(host)
    },
    async request(address, request) {
      const url = readAddress(address, rules)
      agent ??= openAgent()
      return sendRequest(await agent, url, request)
    },
    close() {
      closing ??= agent === undefined ? Promise.resolve() : agent.then((made) => (made.closed ? undefined : made.close()))
      return closing
    },
  }
}

/** Limits the time of a resolver, which has no timeout. No socket is opened after a late answer. */
async function withTimeLimit<Value>(timeoutMs: number, promise: Promise<Value>): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new RequestFailed('timeout')), timeoutMs)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The participant or consent authority to which a guard belongs. */
export interface AddressGuardOwner {
  readonly id: number
  readonly outgoing: readonly AllowedHost[]
}

/** The address guards of all participants, or of all consent authorities. */
export interface ParticipantGuards {
  /** The guard of one of them. @param identity our client certificate; requests without it use other connections */
  of(participant: AddressGuardOwner, identity?: ClientIdentity): AddressGuard
  /** Closes all open connections, after the requests that are under way. */
  close(): Promise<void>
}

/** Creates and keeps the guards. When a participant's allowed hosts (`outgoing`) change, `of` replaces the guard by a new one. */
export function createParticipantGuards(options: Omit<AddressGuardOptions, 'allowed'> = {}): ParticipantGuards {
  // A replaced guard accepts no new requests, and closes when its current requests have been answered.
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
