/** Notes facts about each request, for refusals and the access log, and limits the failures of an address. */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { readAddressPrefix } from '@rollcall/base/shared/address-prefix'
import type { Metrics } from '@rollcall/observe/metrics'
import type { RefusalRecorder, RefusedRequest } from '@rollcall/observe/refusals'
import type { Throttle } from '@rollcall/participants/admission/throttle'
import { RequestFault } from '@rollcall/protocol'

/** The member of a request in which its facts are noted. A WeakMap would be several times slower than a member. */
const NOTED_REQUEST_FACTS = Symbol('noted')

/** A request, or what is known of an unreadable one. */
export type GatedRequest = Pick<IncomingMessage, 'socket' | 'headers'> & { [NOTED_REQUEST_FACTS]?: NotedRequestFacts }

/**
 * Nobody is signed in to the console or the partner page. The gate does not count this as a failure: pages count their own
 * failures.
 */
export class NotSignedIn extends RequestFault {
  constructor(message: string) {
    super('err.request.unauthorized', message)
  }
}

/** The known facts of a request, for refusals and the access log. */
export interface NotedRequestFacts extends RefusedRequest {
  /** The sender_id of the participant, by its access token, session or client_id; null when the participant is not known. */
  readonly participant: string | null
  /** The message_id of the message, which may be any text. */
  readonly message_id?: string
  /** The correlation_id of the exchange. */
  readonly correlation_id?: string
  /** The code with which the request was refused or its header rejected. */
  readonly code?: string
}

export interface RequestGate {
  /** Notes the participant who sends a request, when its token, client secret or session is found to be valid. */
  noteParticipant(request: GatedRequest, sender_id: string): void
  /** Notes the registry and the operation that a request addresses. */
  noteOperation(request: GatedRequest, asked: RefusedRequest): void
  /** Notes the message_id of a request's message, the correlation_id of its exchange, or both. */
  noteIds(request: GatedRequest, ids: Pick<NotedRequestFacts, 'message_id' | 'correlation_id'>): void
  /** Returns what was noted about a request. */
  notedFacts(request: GatedRequest): NotedRequestFacts
  /** Notes a request whose header the reply rejects, with the code of the rejection. */
  noteRejection(request: GatedRequest, code: string): void
  /**
   * Notes a request that is refused with a fault. A fault `err.request.unauthorized` counts as a failure of the address, except
   * `NotSignedIn`.
   * @returns the fault to answer: the given one, or 429 when the address has too many failures
   */
  faultToAnswer(request: GatedRequest, fault: RequestFault): RequestFault
  /** The address of the client; for a connection from our own proxy, the address that the proxy names. */
  address(request: GatedRequest): string
  /** The key of one client: its IPv4 address, or the /64 of its IPv6 address. */
  unit(request: GatedRequest): string
  /** Returns the seconds until the address of the request may request a token again; 0: now. */
  wait(request: GatedRequest): number
  /** Notes a refused token request as a failure of its address. `participant` is null for an unknown client. */
  tokenRefused(request: GatedRequest, error: string, participant: string | null): void
}

const NO_REQUEST_FACTS: NotedRequestFacts = { registry: null, operation: null, participant: null }
const TOKEN_REQUEST: RefusedRequest = { registry: null, operation: 'token' }

export function createRequestGate(deps: {
  readonly refusals: RefusalRecorder
  readonly metrics: Pick<Metrics, 'requestRefused'>
  /** Counts the failures of each address. */
  readonly failures: Throttle
  readonly clientAddress: (request: GatedRequest) => string
}): RequestGate {
  const { refusals, metrics, failures, clientAddress } = deps
  const noted = (request: GatedRequest): NotedRequestFacts => request[NOTED_REQUEST_FACTS] ?? NO_REQUEST_FACTS
  const note = (request: GatedRequest, more: Partial<NotedRequestFacts>): void => {
    request[NOTED_REQUEST_FACTS] ??= { ...NO_REQUEST_FACTS }
    Object.assign(request[NOTED_REQUEST_FACTS], more)
  }
  const askedOf = (request: GatedRequest): RefusedRequest => {
    const { registry, operation } = noted(request)
    return { registry, operation }
  }
  const unitOf = (request: GatedRequest): string => clientAddressKey(clientAddress(request))

  const count = (address: string): number => {
    const wait = failures.wait(address)
    if (wait === 0) failures.fail(address)
    else metrics.requestRefused('address_failures')
    return wait
  }

  return {
    address: clientAddress,
    unit: unitOf,
    notedFacts: noted,
    noteParticipant: (request, participant) => note(request, { participant }),
    noteOperation: note,
    noteIds: note,
    noteRejection(request, code) {
      note(request, { code })
      const { participant } = noted(request)
      refusals.rejected({ refusal: code, participant, address: unitOf(request) }, askedOf(request))
    },
    faultToAnswer(request, fault) {
      note(request, { code: fault.code })
      // A failure of ours does not count for the address. It is logged where it happens.
      if (fault.httpStatus >= 500) return fault
      const address = unitOf(request)
      const { participant } = noted(request)
      const reason = fault.reason === undefined ? {} : { reason: fault.reason }
      refusals.note({ refusal: fault.code, participant, address, ...reason }, askedOf(request))
      if (fault.code !== 'err.request.unauthorized' || fault instanceof NotSignedIn) return fault
      const retryAfter = count(address)
      if (retryAfter === 0) return fault
      note(request, { code: 'err.request.too_many_requests' })
      return new RequestFault(
        'err.request.too_many_requests',
        'too many requests without a good access token from this address; try again later',
        undefined,
        { retryAfter },
      )
    },
    wait(request) {
      const wait = failures.wait(unitOf(request))
      if (wait > 0) metrics.requestRefused('address_failures')
      return wait
    },
    tokenRefused(request, error, participant) {
      note(request, { participant, code: `token.${error}` })
      const address = unitOf(request)
      refusals.note({ refusal: `token.${error}`, participant, address }, TOKEN_REQUEST)
      if (failures.wait(address) === 0) failures.fail(address)
    },
  }
}

/** The addresses where proxies are expected by default: this machine and private networks. */
const USUAL_PROXIES = [...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'], ...['::1/128', 'fc00::/7']]

/**
 * Makes a function that returns the address of a client. Without `behindProxy`, this is the address of the connection. With it,
 * `X-Forwarded-For` is read on connections from proxies: from its right end, where each proxy adds an address, to the first
 * address that is no proxy of ours.
 * @param options.proxies address prefixes of our proxies; if it is empty, USUAL_PROXIES counts
 */
export function clientAddressReader(options: {
  readonly behindProxy: boolean
  readonly proxies: readonly string[]
}): (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string {
  const trusted = new BlockList()
  for (const text of options.proxies.length > 0 ? options.proxies : USUAL_PROXIES) {
    const prefix = readAddressPrefix(text)
    if (prefix !== null) trusted.addSubnet(prefix.address, prefix.bits, addressFamilyOf(prefix.address))
  }
  const isProxy = (address: string): boolean => isIP(address) !== 0 && trusted.check(address, addressFamilyOf(address))

  return ({ socket, headers }) => {
    let address = plainIpv4(socket.remoteAddress ?? '')
    if (!options.behindProxy) return address
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
    while (isProxy(address)) {
      const next = withoutPort((forwarded.pop() ?? '').trim())
      if (isIP(next) === 0) break
      address = plainIpv4(next)
    }
    return address
  }
}

/** The key of one client: an IPv4 address, or the /64 of an IPv6 address, because one system may use a whole /64. */
export function clientAddressKey(address: string): string {
  if (isIP(address) !== 6) return address
  const bare = address.split('%', 1).join('')
  const [head = '', tail] = bare.split('::')
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  // An IPv4 address at the end is one text in the list, but stands for two of the eight groups.
  const written = groups.length + after.length + (bare.includes('.') ? 1 : 0)
  const filled = tail === undefined ? groups : [...groups, ...Array(8 - written).fill('0'), ...after]
  return `${filled
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

const addressFamilyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Turns an IPv4 address in IPv6 form, as a dual-stack socket has it, into an IPv4 address. */
const plainIpv4 = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/i, '')

/** Removes the port that some proxies write: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (text: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
