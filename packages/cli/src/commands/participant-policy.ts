/** `rollcall participant policy`: how a participant signs and encrypts, and where its keys are. */
import type { SignatureProfile } from '@rollcall/protocol'
import {
  createAddressGuard,
  ENCRYPTION_POLICIES,
  type EncryptionPolicy,
  type Participant,
  type SealPolicy,
  SIGNATURE_POLICIES,
  type SignaturePolicy,
  setSealPolicy,
} from '@rollcall/server'
import { type Command, Option } from 'commander'
import { withDatabase } from '../environment.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { participantNamed } from '../participants.ts'
import { profileText, readProfile } from '../profile.ts'
import { stopRequest } from '../stop.ts'

export function addPolicyCommand(participant: Command): void {
  withJson(participant.command('policy'))
    .description('show or change how a participant signs and encrypts; servers follow within a second')
    .argument('<sender_id>', 'its sender_id')
    .addOption(
      new Option('--signature <policy>', 'whether its messages must be signed').choices(SIGNATURE_POLICIES),
    )
    .option('--allow-unsigned', 'permit a --signature other than required')
    .addOption(
      new Option('--encryption <policy>', 'whether messages are encrypted').choices(ENCRYPTION_POLICIES),
    )
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
  const changes = changesOf(options)
  const participant = await withDatabase(async (db) => {
    await checkKeySetAddress(await participantNamed(db, sender_id), changes)
    return setSealPolicy(db, sender_id, changes)
  })
  const shown = describe(participant)
  const lines = Object.entries(shown).map(([name, value]) => `${name.padEnd(18)}${value ?? '-'}`)
  print(options, { ...shown, signature_profile: participant.signature_profile }, lines.join('\n'))
}

function changesOf({
  signature,
  allowUnsigned,
  encryption,
  profile,
  jwksUri,
}: PolicyOptions): Partial<SealPolicy> {
  return {
    ...(signature !== undefined && { signature_policy: signature }),
    ...(allowUnsigned !== undefined && { allow_unsigned: allowUnsigned }),
    ...(encryption !== undefined && { encryption_policy: encryption }),
    ...(profile !== undefined && { signature_profile: profile }),
    ...(jwksUri !== undefined && { jwks_uri: jwksUri === 'none' ? null : jwksUri }),
  }
}

/** Nothing is fetched; whether it may be is better known now than with the first message. */
async function checkKeySetAddress(
  { outgoing }: Participant,
  { jwks_uri }: Partial<SealPolicy>,
): Promise<void> {
  if (!jwks_uri) return
  const guard = createAddressGuard({ allowed: outgoing })
  try {
    await guard.check(jwks_uri)
  } finally {
    await guard.close()
  }
}

function describe(participant: Participant) {
  const { sender_id, signature_policy, allow_unsigned, encryption_policy, jwks_uri } = participant
  const signature_profile = profileText(participant.signature_profile)
  return { sender_id, signature_policy, allow_unsigned, signature_profile, encryption_policy, jwks_uri }
}
