/** What every command that asks a registry takes: which registry, who asks, with which keys. */
import type { SignaturePolicy } from '@rollcall/client'
import type { SignatureProfile } from '@rollcall/protocol'
import { type Command, Option } from 'commander'
import { readProfile } from '../profile.ts'
import { wholeNumber } from '../values.ts'

export interface KeyOptions {
  readonly decryptKey?: string
  readonly decryptKid?: string
  readonly verify?: SignaturePolicy
}

export interface RegistryOptions extends KeyOptions {
  readonly url?: string
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
  readonly timeout: number
}

const POLICIES: readonly SignaturePolicy[] = ['required', 'if-present', 'off']

/** The environment variable of the client secret: a command line stays in the shell's history. */
export const SECRET_VARIABLE = 'ROLLCALL_CLIENT_SECRET'

export function withRegistryOptions(command: Command): Command {
  return withKeyOptions(
    command
      .option(
        '--url <address>',
        "base address of a registry, with namespace and version (default: the demo's)",
      )
      .addOption(
        new Option('--registry <namespace>', 'a registry of the demo on this machine').conflicts('url'),
      )
      .option(
        '--sender-id <sender_id>',
        "under which the registry knows us (default: the demo's participant)",
      )
      .option('--receiver-id <receiver_id>', "the registry's own sender_id")
      .option('--client-id <client_id>', 'asks for an access token; without it, and the demo, none is sent')
      .option(
        '--client-secret-file <file>',
        `its secret, - for standard input (default: ${SECRET_VARIABLE} of the environment)`,
      )
      .option(
        '--token-url <address>',
        "where tokens are given (default: /oauth2/client/token at the registry's host)",
      )
      .option('--sign-key <file>', 'private key to sign with, PEM or JWK')
      .option('--sign-kid <kid>', 'what the registry calls that key, where the file does not say')
      .option('--profile <words>', 'how we sign, as in rollcall participant policy', readProfile)
      .option(
        '--encrypt',
        "encrypt the request, and demand an encrypted answer (key: --decrypt-key, or the demo's)",
      )
      .option(
        '--peer-keys <file|address>',
        "the registry's public keys (default: /.well-known/jwks.json at its host)",
      ),
  ).option('--timeout <seconds>', 'for one attempt', wholeNumber(1, 3_600), 30)
}

/** Options of everything that reads what a registry has sealed. */
export function withKeyOptions(command: Command): Command {
  return command
    .option('--decrypt-key <file>', 'our private key for encrypted messages, PEM or JWK')
    .option('--decrypt-kid <kid>', 'what the registry calls that key, where the file does not say')
    .addOption(
      new Option(
        '--verify <policy>',
        'whether what the registry sends must be signed (default: "required")',
      ).choices(POLICIES),
    )
}
