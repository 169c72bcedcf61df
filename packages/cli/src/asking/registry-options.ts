/** Options of commands that send requests to a registry: the registry, the sender, its keys. */
import type { Outgoing, Paths, SignaturePolicy } from '@rollcall/client'
import type { SignatureProfile } from '@rollcall/protocol'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { readProfile } from '../profile.ts'
import { wholeNumberReader } from '../values.ts'

export interface KeyOptions {
  readonly decryptKey?: string
  readonly decryptKid?: string
  readonly verify?: SignaturePolicy
}

export interface RegistryOptions extends KeyOptions {
  readonly url?: string
  readonly path?: Paths
  readonly outgoing?: Outgoing
  readonly registry?: string
  readonly senderId?: string
  readonly receiverId?: string
  readonly clientId?: string
  readonly clientSecretFile?: string
  readonly tokenUrl?: string
  readonly signKey?: string
  readonly signKid?: string
  readonly profile?: SignatureProfile
  readonly encrypt?: true
  readonly peerKeys?: string
  readonly peerProfile?: SignatureProfile
  readonly timeout: number
}

const SIGNATURE_POLICIES: readonly SignaturePolicy[] = ['required', 'if-present', 'off']

/** How the header of a request is written. The client package describes both forms (outgoing.ts). */
const ENVELOPE_HEADER_FORMS: readonly Outgoing[] = ['usual', 'reserialised']

function collectOperationPath(text: string, before: Paths = {}): Paths {
  const [, name, path] = /^([^=]+)=(.*)$/.exec(text) ?? []
  if (name !== undefined && path !== undefined) return { ...before, [name]: path }
  throw new InvalidArgumentError('It must be a name and a path, such as registry=dci.')
}

/** The environment variable of the client secret. An option with the secret would stay in the history of the shell. */
export const CLIENT_SECRET_VARIABLE = 'ROLLCALL_CLIENT_SECRET'

export function addRegistryOptions(command: Command): Command {
  return addKeyOptions(
    command
      .option('--url <address>', "base address of a registry, with namespace and version (default: the demo's)")
      .addOption(new Option('--registry <namespace>', 'a registry of the demo on this machine').conflicts('url'))
      .option(
        '--path <name=path>',
        'where the registry serves an operation (txn-status=reg/txn/status), or what stands at the beginning of its paths (registry=dci); may be given several times',
        collectOperationPath,
      )
      .option('--sender-id <sender_id>', "our sender_id at the registry (default: the demo's participant)")
      .option('--receiver-id <receiver_id>', 'the sender_id of the registry')
      .option('--client-id <client_id>', 'our client_id, to get an access token (default: no token, except at the demo)')
      .option(
        '--client-secret-file <file>',
        `file with the client secret, - for standard input (default: the environment variable ${CLIENT_SECRET_VARIABLE})`,
      )
      .option('--token-url <address>', "address of the token endpoint (default: /oauth2/client/token at the registry's host)")
      .option('--sign-key <file>', 'private key to sign with, PEM or JWK')
      .option('--sign-kid <kid>', 'kid of that key at the registry, if the file has none')
      .option('--profile <words>', 'our signature profile, as in rollcall participant policy', readProfile)
      .option('--encrypt', "encrypt the request, and require an encrypted answer (key: --decrypt-key, or the demo's)")
      .option('--peer-keys <file|address>', "the registry's public keys (default: /.well-known/jwks.json at its host)")
      .option(
        '--peer-profile <words>',
        'how the registry signs (default: our profile, else that of the specification)',
        readProfile,
      )
      .addOption(
        new Option(
          '--outgoing <form>',
          'how headers are written: reserialised for a registry that writes them again before it verifies (default: "usual")',
        ).choices(ENVELOPE_HEADER_FORMS),
      ),
  ).option('--timeout <seconds>', 'time for one attempt', wholeNumberReader(1, 3_600), 30)
}

/** Adds the options with which a command decrypts and verifies messages of a registry. */
export function addKeyOptions(command: Command): Command {
  return command
    .option('--decrypt-key <file>', 'our private key for encrypted messages, PEM or JWK')
    .option('--decrypt-kid <kid>', 'kid of that key at the registry, if the file has none')
    .addOption(
      new Option('--verify <policy>', 'whether messages of the registry must be signed (default: "required")').choices(
        SIGNATURE_POLICIES,
      ),
    )
}
