/** Reads the options of a RegistryClient into settings. */

import {
  type Callback,
  DEFAULT_SIGNATURE_PROFILE,
  type DecryptionKeys,
  decryptionKeys,
  type EncryptionKey,
  type Jwk,
  publicEncryptionKey,
  type SignaturePolicy,
  type SignatureProfile,
  type Signer,
  TOKEN_PATH,
} from '@rollcall/protocol'
import type { Fetch } from '../http/fetch.ts'
import type { HttpSettings } from '../http/post.ts'
import { DEFAULT_RETRY, type Retry } from '../http/retry.ts'
import {
  type ClientCredentials,
  fetchedTokenSource,
  functionTokenSource,
  type GiveToken,
  type TokenSource,
} from '../http/tokens.ts'
import type { Receiver } from '../receiver/receiver.ts'
import { makePeerTrust, type PeerTrustSettings } from '../trust/open.ts'
import { profileOfAnswers, type Signing, signerOf } from '../trust/own-keys.ts'
import type { JwkSet } from '../trust/peer-keys.ts'
import { readFault } from './faults.ts'
import { OUTGOING, type Outgoing } from './outgoing.ts'
import { checkPaths, type Paths } from './paths.ts'
import { checkKind, type KindName, type SaidKind } from './records.ts'

/** How the registry's answers are verified. */
export interface PeerTrust {
  /** The registry's public keys, or their address; by default `/.well-known/jwks.json` on its host. */
  readonly keys?: JwkSet | string
  /** Whether answers must be signed; `required` by default. */
  readonly signature?: SignaturePolicy
  /**
   * How the registry signs. The default is the `profile` in `signing`, by which we sign. If there is none, it is the profile of
   * the specification, which has EdDSA; the algorithm of our key in `signing` is added.
   */
  readonly profile?: SignatureProfile
  /** The values that the parameter `namespace` of a signature may have; by default SIGNATURE_NAMESPACES, such as `registry`. */
  readonly namespaces?: readonly string[]
}

/** The keys for encrypted requests and answers. */
export interface Encryption {
  /** Our private JWKs, each with the `kid` under which the registry knows its public half. */
  readonly keys: readonly Jwk[]
  /** The registry's public JWK to encrypt with; by default the first encryption key of its key set. */
  readonly encrypt_for?: Jwk
}

/** The kind of the registry, such as `civil`. The records in its answers have the types of that kind. */
export interface OfKind<Kind extends SaidKind> {
  readonly kind?: Kind & KindName
}

/** The options of a `RegistryClient`. */
export interface ClientOptions {
  /** The address of the registry with namespace and version: `https://registry.example/civil/v1.0.0`. */
  readonly base_url: string
  /** Replacements for paths below `base_url`. `{ registry: 'dci' }`: paths begin with `dci` in place of `registry`. */
  readonly paths?: Paths
  /** The sender_id by which the registry knows us. */
  readonly sender_id: string
  /** The registry's sender_id, which requests have as receiver_id. */
  readonly receiver_id?: string
  /**
   * The full address for callbacks, or a function that gives one for each: `callbacksAt('https://sp.example')`. By
   * default the registry uses the address that it has stored for us.
   */
  readonly sender_uri?: string | ((callback: Callback) => string)
  /** How to get access tokens. Without this option, requests have no token. */
  readonly credentials?: ClientCredentials | GiveToken
  /** Our key for signatures. Without it, messages are not signed. */
  readonly signing?: Signing
  /** When this option is given, requests are encrypted, and answers must be encrypted too. */
  readonly encryption?: Encryption
  readonly peer?: PeerTrust
  /** How headers are written; `usual` by default. `reserialised`: for a registry that rewrites them before it verifies. */
  readonly outgoing?: Outgoing
  /** Receives our callbacks in this process; needed by all methods that wait for a callback, such as `subscribe`. */
  readonly receiver?: Receiver
  readonly fetch?: Fetch
  readonly retry?: Partial<Retry>
  /** The longest time for one attempt in milliseconds; 30 000 by default. */
  readonly timeout?: number
  /** The longest time to wait for the callback of `subscribe` and `unsubscribe`, in milliseconds; 60 000 by default. */
  readonly callback_timeout?: number
  /** The largest answer in bytes; 64 MiB by default. */
  readonly max_answer_bytes?: number
}

/** All settings that requests need. Keys are imported when they are first needed. */
export interface Settings {
  readonly base_url: string
  readonly paths: Paths
  readonly sender_id: string
  readonly receiver_id: string | undefined
  readonly senderUri: (callback: Callback) => string | undefined
  readonly http: HttpSettings
  readonly retry: Retry
  readonly tokens: TokenSource | null
  readonly trust: PeerTrustSettings
  readonly outgoing: Outgoing
  readonly signer: () => Promise<Signer | null>
  /**
   * Finds the registry's public key for encryption; it returns null when the registry publishes none. `encryptFor` itself is null
   * when we do not encrypt.
   */
  readonly encryptFor: (() => Promise<EncryptionKey | null>) | null
  readonly decryptionKeys: DecryptionKeys
}

const ATTEMPT_TIMEOUT_MS = 30_000
const MAX_ANSWER_BYTES = 64 * 1_024 * 1_024

/** Reads the options. @throws TypeError an option is invalid; the key in `signing` is read by the first request */
export function readSettings(options: ClientOptions & OfKind<SaidKind>): Settings {
  const { kind, sender_id, receiver_id, sender_uri, signing, encryption } = options
  if (kind !== undefined) checkKind(kind)
  const { outgoing = 'usual', paths = {} } = options
  checkPaths(paths)
  if (!Object.hasOwn(OUTGOING, outgoing)) {
    throw new TypeError(`outgoing must be one of ${Object.keys(OUTGOING).join(', ')}`)
  }
  const base = new URL(options.base_url)
  const http: HttpSettings = {
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeout: options.timeout ?? ATTEMPT_TIMEOUT_MS,
    maxAnswerBytes: options.max_answer_bytes ?? MAX_ANSWER_BYTES,
  }
  const retry = { ...DEFAULT_RETRY, ...options.retry }
  const trust = readPeerTrustSettings(options, http, base)
  let signer: Promise<Signer | null> | undefined
  const key = encryption?.encrypt_for
  return {
    base_url: base.href.replace(/\/*$/, ''),
    paths,
    sender_id,
    receiver_id,
    senderUri: typeof sender_uri === 'function' ? sender_uri : () => sender_uri,
    http,
    retry,
    tokens: makeTokenSource(options.credentials, http, retry, base),
    trust,
    outgoing,
    signer: () => {
      signer ??= signing === undefined ? Promise.resolve(null) : signerOf(signing, sender_id)
      return signer
    },
    encryptFor: encryption === undefined ? null : () => (key === undefined ? trust.keys.encryption() : publicEncryptionKey(key)),
    decryptionKeys: decryptionKeys(encryption?.keys ?? []),
  }
}

function readPeerTrustSettings(
  { peer = {}, signing, encryption }: ClientOptions,
  http: HttpSettings,
  base: URL,
): PeerTrustSettings {
  const { profile = signing === undefined ? DEFAULT_SIGNATURE_PROFILE : profileOfAnswers(signing) } = peer
  const { keys = new URL('/.well-known/jwks.json', base).href } = peer
  return makePeerTrust({ ...peer, keys, profile, encrypted: encryption !== undefined }, http)
}

function makeTokenSource(
  credentials: ClientOptions['credentials'],
  http: HttpSettings,
  retry: Retry,
  base: URL,
): TokenSource | null {
  if (credentials === undefined) return null
  if (typeof credentials === 'function') return functionTokenSource(credentials)
  const endpoint = { token_url: new URL(`/${TOKEN_PATH}`, base).href, ...credentials }
  return fetchedTokenSource(http, retry, endpoint, readFault)
}

/** Gives the usual addresses for callbacks below `base`, such as `https://sp.example/registry/on-search`. */
export function callbacksAt(base: string): (callback: Callback) => string {
  const start = new URL(base).href.replace(/\/*$/, '')
  return ({ path }) => `${start}/${path}`
}
