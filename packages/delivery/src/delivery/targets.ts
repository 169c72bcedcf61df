/**
 * Finds the address of an answer: the one that the request names, or the participant's default address if it names none. A
 * named address that is not allowed is refused.
 */

import { MAX_ADDRESS_LENGTH } from '@rollcall/core/model/allowed-hosts'
import type { CallbackSettingsReader } from '@rollcall/participants/directory/directory'
import type { AddressGuardOwner, ParticipantGuards } from '@rollcall/participants/egress/address-guard'
import { AddressRefused } from '@rollcall/participants/egress/problems'
import { type CallbackSettings, defaultCallbackAddress } from '@rollcall/participants/store/participant-callbacks'
import { CALLBACKS, type Callback, RequestFault } from '@rollcall/protocol'

type CallbackAddresses = Pick<CallbackSettings, 'allowed' | 'default_url' | 'notify_url'>

/** Rules for the address of a callback that answers no request. */
interface CallbackAddressRule {
  /** The address that the operator set for this callback alone, which is used before others; null: none. */
  readonly own: (addresses: CallbackAddresses) => string | null
  /** Derives the address of this callback from a sender_uri: for notifications, that of the subscribe request. */
  readonly named: (sender_uri: string) => string
}

/** The rules by callback. The specification names no address for notifications: D28 derives one. */
const CALLBACK_ADDRESS_RULES: Readonly<Partial<Record<string, CallbackAddressRule>>> = {
  notify: {
    own: ({ notify_url }) => notify_url,
    named: (sender_uri) => sender_uri.replace(/^(.*)\/on-subscribe(?![\w-])/s, '$1/notify'),
  },
}

/**
 * Finds the address for a callback; null when there is none, and the answer is only stored for a status question (D5).
 * @param callback null for operations without a callback
 * @throws RequestFault err.sender_uri.invalid
 */
export function findCallbackTarget(
  addresses: CallbackAddresses,
  sender_uri: string | null,
  callback: Callback | null,
): string | null {
  if (callback === null) return null
  const { allowed, default_url } = addresses
  const rule = CALLBACK_ADDRESS_RULES[callback.name]
  const configured = rule?.own(addresses) ?? null
  if (configured !== null) return URL.parse(configured)?.href ?? configured
  if (sender_uri === null) return default_url === null ? null : defaultCallbackAddress(default_url, callback)
  return requireAllowedTarget(allowed, rule?.named(sender_uri) ?? sender_uri)
}

/**
 * Returns an address that was found for a callback before, if it is still the configured address of the callback, or allowed.
 * @throws RequestFault err.sender_uri.invalid it is neither configured nor allowed
 */
export function recheckTarget(addresses: CallbackAddresses, target: string, callback: Callback): string {
  return findCallbackTarget(addresses, null, callback) === target ? target : requireAllowedTarget(addresses.allowed, target)
}

/**
 * An address as a sender may write it. Any other text is refused, because the URL standard would change it, for example remove
 * line breaks and turn `\` into `/`: the answer would go to an address that the sender did not write.
 */
const WRITTEN_ADDRESS_PATTERN = /^https?:\/\/[^\s\\/?\p{Cc}][^\s\\?\p{Cc}]*(?:\?[^\s\p{Cc}]*)?$/iu

/** Checks that an address is allowed, and returns its normal spelling. @throws RequestFault err.sender_uri.invalid */
function requireAllowedTarget(allowed: readonly string[], address: string): string {
  const url = WRITTEN_ADDRESS_PATTERN.test(address) ? readCallableUrl(address) : null
  if (url === null)
    throw senderUriFault(
      `must be an absolute http or https address of at most ${MAX_ADDRESS_LENGTH} characters, without credentials and fragment`,
    )
  if (!allowed.some((entry) => isAddressAllowedByEntry(entry, url)))
    throw senderUriFault('is not an address registered for this sender')
  return url.href
}

/** True when there is an allowed address for a callback. */
export function hasCallbackTarget(addresses: CallbackAddresses, sender_uri: string | null, callback: Callback): boolean {
  try {
    return findCallbackTarget(addresses, sender_uri, callback) !== null
  } catch (error) {
    if (error instanceof RequestFault) return false
    throw error
  }
}

/** The row of CALLBACKS with this name. Throws an Error when there is none. */
export function callbackNamed(name: string): Callback {
  const found = CALLBACKS.find((callback) => callback.name === name)
  if (found === undefined) throw new RangeError(`there is no callback ${name}`)
  return found
}

/**
 * Reads an address into the spelling of the URL standard; null when the text is no address that may be called. Only that spelling
 * is checked, stored and called. Reading it again gives the same text, so an accepted address is not refused later because of its
 * spelling.
 */
function readCallableUrl(text: string): URL | null {
  const url = text.length > MAX_ADDRESS_LENGTH ? null : URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.href.length > MAX_ADDRESS_LENGTH) return null
  return url.username === '' && url.password === '' && !url.href.includes('#') ? url : null
}

/** True when an entry of `allowed` has the scheme, host and port (`:*`: any) of an address, and its path or a folder above it. */
function isAddressAllowedByEntry(entry: string, url: URL): boolean {
  const anyPort = /^(https?:\/\/[^/?#]+):\*(?=\/|$)/
  const rule = URL.parse(entry.replace(anyPort, '$1'))
  if (rule === null) return false
  const sameHost = anyPort.test(entry)
    ? rule.protocol === url.protocol && rule.hostname === url.hostname
    : rule.origin === url.origin
  const prefix = rule.pathname.endsWith('/') ? rule.pathname : `${rule.pathname}/`
  const path = url.pathname
  return sameHost && !couldLeavePrefix(path) && (path === rule.pathname || path.startsWith(prefix))
}

/** True when a text can be an entry of `allowed`: an origin with or without a path, and nothing after it. */
export function canBeAllowedEntry(entry: string): boolean {
  const url = readCallableUrl(entry.replace(/:\*(?=\/|$)/, ''))
  return url !== null && url.search === '' && !couldLeavePrefix(url.pathname)
}

/** True when a text can be a `default_url`: a callable address without a query, so that callback paths can be added. */
export function canBeDefaultUrl(text: string): boolean {
  return readCallableUrl(text)?.search === '' && !text.includes('?')
}

/** True when a text is an absolute http or https address that is not too long, without credentials and fragment. */
export const isCallableAddress = (text: string): boolean => readCallableUrl(text) !== null

const senderUriFault = (rule: string): RequestFault => new RequestFault('err.sender_uri.invalid', `header.sender_uri: ${rule}`)

/** The dependencies of `readSenderUri`. */
export interface SenderUriDeps {
  readonly callbacks: CallbackSettingsReader
  readonly guards: ParticipantGuards
}

/**
 * Finds the address for a request that names one, as it will be stored and called; null when it names none, or the operation has
 * no callback. Checks the rules that each attempt checks, except those that need the host's IP address.
 * @throws RequestFault err.sender_uri.invalid
 */
export async function readSenderUri(
  { callbacks, guards }: SenderUriDeps,
  participant: AddressGuardOwner,
  sender_uri: string | null,
  callback: Callback | null,
): Promise<string | null> {
  if (sender_uri === null) return null
  const target = findCallbackTarget(await callbacks.of(participant), sender_uri, callback)
  if (target === null) return null
  try {
    guards.of(participant).read(target)
  } catch (error) {
    if (!(error instanceof AddressRefused)) throw error
    throw new RequestFault('err.sender_uri.invalid', `header.sender_uri: ${error.message}`)
  }
  return target
}

/**
 * True when a server could understand a path as one outside of the allowed prefix.
 * @param path of a URL as the URL standard writes it
 * @returns true also for a path that cannot be read with certainty
 */
export function couldLeavePrefix(path: string): boolean {
  if (AMBIGUOUS_ESCAPE_PATTERN.test(path)) return true
  const folded = decodePath(path)?.normalize('NFKC')
  if (folded === undefined || !READABLE_PATH_PATTERN.test(folded)) return true
  const segments = folded.split('/')
  // `normalize` may have turned another character into a slash: the text then has more segments than `path`.
  return segments.length !== path.split('/').length || segments.some(couldBeDotSegment)
}

/**
 * Encoded slashes, backslashes, dots, percent signs and control characters. Nobody needs them, and decoding twice changes them.
 */
const AMBIGUOUS_ESCAPE_PATTERN = /%(?:2f|5c|2e|25|[01][0-9a-f]|7f)/i

/** Visible letters, marks and digits of any script, and printable ASCII without `\` and `%`. */
const READABLE_PATH_PATTERN = /^(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}]|[ -$&-[\]-~])*$/u

/** Decodes a path; undefined when it is no percent-encoded UTF-8, such as `%u002e` or an overlong form. */
function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/**
 * True when a server may read a segment as `.` or `..`. So `..;x` is refused: some servers drop what follows `;`, `?` or `#`, or
 * drop marks, spaces and pluses.
 */
const couldBeDotSegment = (segment: string): boolean => /^(?=[^;?#]*\.)[. +\p{M}]*(?:[;?#]|$)/u.test(segment)
