/** Reads from options which registry to ask, and in whose name: the demo's participant, or a named one. */
import type { ClientOptions, Encryption, JwkSet, Peer, Signing } from '@rollcall/client'
import type { Jwk } from '@rollcall/protocol'
import type { DemoCredentials } from '../demo/credentials.ts'
import type { DemoFile, DemoRegistry } from '../demo/demo-file.ts'
import { CommandError } from '../failure.ts'
import { readFileOrStdin } from '../input.ts'
import {
  demoRegistryUrl,
  findDemoRegistryAt,
  isLoopbackAddress,
  isOnDemoServer,
  readDemoFile,
  requireDemoRegistry,
} from './demo.ts'
import { readPrivateKey, readPublicKeys } from './private-key.ts'
import { CLIENT_SECRET_VARIABLE, type RegistryOptions } from './registry-options.ts'

export interface RegistryTarget {
  readonly base_url: URL
  readonly client: ClientOptions
  /** Our own private JWKs for encrypted answers and callbacks. */
  readonly decryption_keys: readonly Jwk[]
  /** The registry as the sender of callbacks; null when neither --receiver-id nor the demo gives its sender_id. */
  readonly peer: Peer | null
  /** The record type to ask for by default; null when it is unknown. */
  readonly record_type: string | null
}

/** Reads the registry and the sender from options. @throws CommandError, which says which option is missing or wrong */
export async function readRegistryTarget(options: RegistryOptions): Promise<RegistryTarget> {
  const demo = await readDemoFile()
  const { base_url, registry } = readRegistryAddress(options, demo)
  // The demo's secret and keys are used only for the demo, and only if no other sender is named.
  const isDemoServer = demo !== null && isOnDemoServer(demo, base_url)
  const participant = isDemoServer && options.senderId === undefined && options.clientId === undefined ? demo.participant : null
  const sender_id = options.senderId ?? participant?.sender_id
  if (sender_id === undefined) throw new CommandError('--sender-id is missing; give our sender_id at the registry')

  const receiver_id = options.receiverId ?? registry?.receiver_id
  const signing = await readSigningSettings(options, participant)
  const decryption_keys = await decryptionKeys(options, participant)
  const credentials = await readCredentials(options, participant)
  const trust = await readAnswerTrust(options)
  warnOfPlainHttp(base_url)
  return {
    base_url,
    client: {
      base_url: base_url.href,
      sender_id,
      ...(receiver_id !== undefined && { receiver_id }),
      ...(credentials !== undefined && { credentials }),
      ...(signing !== undefined && { signing }),
      ...encryptionOf(options, decryption_keys),
      ...(options.path !== undefined && { paths: options.path }),
      ...(options.outgoing !== undefined && { outgoing: options.outgoing }),
      peer: trust,
      timeout: options.timeout * 1_000,
    },
    decryption_keys,
    peer: receiver_id === undefined ? null : makePeerSendingCallbacks(receiver_id, base_url, trust, options),
    record_type: registry?.reg_record_type ?? null,
  }
}

function readRegistryAddress(
  { url, registry: namespace }: RegistryOptions,
  demo: DemoFile | null,
): { readonly base_url: URL; readonly registry: DemoRegistry | undefined } {
  if (url !== undefined) {
    const base_url = readAddress('--url', url)
    return { base_url, registry: demo === null ? undefined : findDemoRegistryAt(demo, base_url) }
  }
  if (demo === null) {
    throw new CommandError(
      'name the registry with --url, or start the demo first (npm start) and set ROLLCALL_DATA to its folder',
    )
  }
  const registry = requireDemoRegistry(demo, namespace)
  return { base_url: new URL(demoRegistryUrl(demo, registry)), registry }
}

/** Reads the HTTP address that an option gives. @throws CommandError the text is no HTTP address */
export function readAddress(option: string, text: string): URL {
  const address = URL.canParse(text) ? new URL(text) : null
  if (address !== null && /^https?:$/.test(address.protocol)) return address
  throw new CommandError(`${option} must be an address such as http://127.0.0.1:8080/civil/v1.0.0`)
}

async function readCredentials(
  { clientId, clientSecretFile, tokenUrl }: RegistryOptions,
  participant: DemoCredentials | null,
): Promise<ClientOptions['credentials']> {
  const more = tokenUrl === undefined ? {} : { token_url: readAddress('--token-url', tokenUrl).href }
  if (clientId === undefined) {
    if (tokenUrl !== undefined || clientSecretFile !== undefined) {
      throw new CommandError('--token-url and --client-secret-file need --client-id, our client_id at the registry')
    }
    if (participant === null) return undefined
    const { client_id, client_secret } = participant
    return { client_id, client_secret }
  }
  const secret = clientSecretFile === undefined ? process.env[CLIENT_SECRET_VARIABLE] : await readFileOrStdin(clientSecretFile)
  const client_secret = secret?.trim() ?? ''
  if (client_secret !== '') return { client_id: clientId, client_secret, ...more }
  throw new CommandError(`the secret of --client-id is missing: put it in ${CLIENT_SECRET_VARIABLE} or give --client-secret-file`)
}

async function readSigningSettings(
  { signKey, signKid, profile }: RegistryOptions,
  participant: DemoCredentials | null,
): Promise<Signing | undefined> {
  const demoKey = participant?.sign.private_jwk as Jwk | undefined
  const key = signKey === undefined ? demoKey : await readPrivateKey(signKey, signKid)
  if (key !== undefined) return { key, ...(profile !== undefined && { profile }) }
  if (profile !== undefined) throw new CommandError('--profile needs --sign-key, the private key to sign with')
  return undefined
}

async function decryptionKeys(
  { decryptKey, decryptKid }: RegistryOptions,
  participant: DemoCredentials | null,
): Promise<readonly Jwk[]> {
  if (decryptKey !== undefined) return [await readPrivateKey(decryptKey, decryptKid)]
  return participant === null ? [] : [participant.encrypt.private_jwk as Jwk]
}

function encryptionOf({ encrypt }: RegistryOptions, keys: readonly Jwk[]): { readonly encryption?: Encryption } {
  if (encrypt !== true) return {}
  if (keys.length > 0) return { encryption: { keys } }
  throw new CommandError('--encrypt needs --decrypt-key, our private key that opens the answer')
}

interface AnswerVerification {
  readonly signature?: Peer['signature'] & string
  readonly keys?: JwkSet | string
  readonly profile?: Peer['profile'] & object
}

async function readAnswerTrust({ verify, peerKeys, peerProfile }: RegistryOptions): Promise<AnswerVerification> {
  const keys = peerKeys === undefined || /^https?:/.test(peerKeys) ? peerKeys : await readPublicKeys(peerKeys)
  return {
    ...(verify !== undefined && { signature: verify }),
    ...(keys !== undefined && { keys }),
    ...(peerProfile !== undefined && { profile: peerProfile }),
  }
}

function makePeerSendingCallbacks(
  sender_id: string,
  base_url: URL,
  trust: AnswerVerification,
  { encrypt, profile }: RegistryOptions,
): Peer {
  const keys = trust.keys ?? publishedKeysAddress(base_url)
  // A registry signs with the signature profile that it expects of us (D16).
  const same = profile === undefined ? {} : { profile }
  return { sender_id, ...same, ...trust, keys, encrypted: encrypt === true }
}

/** The address at which a registry publishes its keys: `/.well-known/jwks.json` at the host of `address`. */
export const publishedKeysAddress = (address: URL | string): string => new URL('/.well-known/jwks.json', address).href

function warnOfPlainHttp(address: URL): void {
  if (address.protocol === 'https:' || isLoopbackAddress(address)) return
  process.stderr.write('rollcall: this address speaks plain HTTP: secrets and records cross the network in clear\n')
}
