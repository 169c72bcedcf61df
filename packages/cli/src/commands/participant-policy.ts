/** `rollcall participant policy`: how a participant signs and encrypts, and where its keys are. */

import {
  changeParticipantPolicy,
  ENCRYPTION_POLICIES,
  type EncryptionPolicy,
  SIGNATURE_POLICIES,
  type SignaturePolicy,
} from '@rollcall/admin/participants/policy'
import type { SignatureProfile } from '@rollcall/protocol'
import { type Command, Option } from 'commander'
import { ask } from '../environment.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { profileText, readProfile } from '../profile.ts'
import { stopRequest } from '../stop.ts'

export function addPolicyCommand(participant: Command): void {
  withJson(participant.command('policy'))
    .description('show or change how a participant signs and encrypts; servers use the change within a second')
    .argument('<sender_id>', 'its sender_id')
    .addOption(new Option('--signature <policy>', 'whether its messages must be signed').choices(SIGNATURE_POLICIES))
    .option('--allow-unsigned', 'permit a --signature other than required')
    .addOption(new Option('--encryption <policy>', 'whether messages are encrypted').choices(ENCRYPTION_POLICIES))
    .option(
      '--profile <words>',
      'how it signs: layout, canonical form, digest prefix and algorithms, with commas; default for the profile of the specification',
      readProfile,
    )
    .option(
      '--jwks-uri <address>',
      'address of the key set that it publishes; none to use only keys that are registered here',
    )
    .addHelpText(
      'after',
      `
Profiles are explained in docs/signature.md. rollcall keys probe finds the profile of a message.

Example: rollcall participant policy spmis.example.org --profile jws,as-received,RS256`,
    )
    .action(runPolicy)
}

interface PolicyOptions extends OutputOptions {
  readonly signature?: SignaturePolicy
  readonly allowUnsigned?: true
  readonly encryption?: EncryptionPolicy
  readonly profile?: SignatureProfile
  readonly jwksUri?: string
}

async function runPolicy(sender_id: string, options: PolicyOptions): Promise<void> {
  stopRequest()
  const { signature, allowUnsigned, encryption, profile, jwksUri } = options
  const shown = await ask(changeParticipantPolicy, {
    sender_id,
    signature_policy: signature,
    allow_unsigned: allowUnsigned,
    encryption_policy: encryption,
    signature_profile: profile,
    jwks_uri: jwksUri === 'none' ? null : jwksUri,
  })
  const lines = Object.entries({ ...shown, signature_profile: profileText(shown.signature_profile) })
  print(options, shown, lines.map(([name, value]) => `${name.padEnd(18)}${value ?? '-'}`).join('\n'))
}
