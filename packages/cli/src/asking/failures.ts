/** Explains errors of requests to a registry to the person who gave the command. */
import { AckError, HeaderRejected, ItemRejected, TokenRefused, TransportError, UntrustedAnswer } from '@rollcall/client'
import { KeyRefused } from '@rollcall/protocol'
import { CommandError } from '../failure.ts'
import { toPrintableLine } from './printing.ts'

/**
 * Awaits a call of the client.
 * @throws CommandError in place of the client's errors, and of any error after `signal` was aborted
 */
export async function callClient<Result>(asking: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  try {
    return await asking
  } catch (error) {
    if (signal?.aborted) throw new CommandError('interrupted')
    throw asCommandError(error)
  }
}

/** Makes a client or a receiver. @throws CommandError a key does not fit its use, or an option is wrong */
export function makeClient<Result>(make: () => Result): Result {
  try {
    return make()
  } catch (error) {
    throw asCommandError(error)
  }
}

/** Makes a CommandError of an error of the client; other errors are returned unchanged. */
function asCommandError(error: unknown): unknown {
  const words = clientErrorText(error)
  return words === null ? error : new CommandError(toPrintableLine(words))
}

function clientErrorText(error: unknown): string | null {
  if (error instanceof TransportError) return `no answer: ${error.message}${attemptsText(error)}`
  if (error instanceof TokenRefused) return `the registry gave no access token: ${codeAndMessage(error)}`
  if (error instanceof AckError) {
    return `the request was refused: ${codeAndMessage(error)} (HTTP ${error.httpStatus})${ackErrorAdvice(error)}`
  }
  if (error instanceof HeaderRejected) return `the request was rejected: ${codeAndMessage(error)}`
  if (error instanceof ItemRejected) return `rejected: ${codeAndMessage(error)}`
  if (error instanceof UntrustedAnswer) {
    return `the answer is not trusted: ${codeAndMessage({ code: error.code, message: error.reason })}${optionsAdvice(error)}`
  }
  // One of our keys does not fit its use, or an option of the client is wrong.
  if (error instanceof KeyRefused || isOptionError(error)) return optionErrorText((error as Error).message)
  return null
}

/** Advice for refusals whose usual cause is a missing or a wrong option of the command. */
const ADVICE_BY_CODE: Readonly<Record<string, string>> = {
  'err.signature.missing': 'sign it: --sign-key with our private key, and --sign-kid with its kid at the registry',
  'err.signature.invalid':
    '--sign-key and --sign-kid must be those of a key that the operator has registered, and --profile the profile that the operator has set for us',
}

/** The beginning of the message with which Rollcall refuses an unknown namespace, version or path. */
const NO_SUCH_PATH_TEXT = 'there is no such namespace or path here'

function ackErrorAdvice({ code, message }: AckError): string {
  const isPath = code === 'err.request.not_found' && message.startsWith(NO_SUCH_PATH_TEXT)
  const advice = isPath
    ? '--url must be the base address with namespace and version, such as https://registry.example.org/civil/v1.0.0'
    : ADVICE_BY_CODE[code]
  return advice === undefined ? '' : `; ${advice}`
}

/** Replaces `signing.profile` at the beginning of an error message by --profile, and adds advice; other messages stay. */
const optionErrorText = (message: string): string =>
  message.startsWith('signing.profile')
    ? `${message.replace('signing.profile', '--profile')}; the algorithm of an Ed25519 key is EdDSA: --profile parameters,rfc8785,EdDSA`
    : message

/** Options of the client that the error `UntrustedAnswer` names as possible causes, with the flags of commands for them. */
const FLAGS_BY_CLIENT_OPTION: Readonly<Record<string, string>> = {
  sender_id: '--sender-id',
  receiver_id: '--receiver-id',
  'peer.signature': '--verify',
  'peer.keys': '--peer-keys',
  'peer.profile': '--peer-profile',
  'encryption.keys': '--decrypt-key',
}

function optionsAdvice({ options }: UntrustedAnswer): string {
  const names = options.flatMap((option) => FLAGS_BY_CLIENT_OPTION[option] ?? [])
  return names.length === 0 ? '' : `; see ${names.join(', ')}`
}

const attemptsText = ({ attempts }: TransportError): string => (attempts > 1 ? `, after ${attempts} attempts` : '')

function codeAndMessage({ code, message }: { readonly code: string; readonly message: string }): string {
  return code === '' || code === message ? message : `${code}: ${message}`
}

const isOptionError = (error: unknown): boolean =>
  error instanceof TypeError && /^(paths\.|signing\.|a key to decrypt|a set of public keys)/.test(error.message)
