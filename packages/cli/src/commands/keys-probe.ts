/** `rollcall keys probe`: finds the signature profile of a message by trying. The server never guesses a profile. */

import { listPublicKeys, type PublicKey, readPublicKeys } from '@rollcall/admin/participants/keys'
import {
  type AlgorithmName,
  importVerifyingKey,
  isJsonObject,
  JsonError,
  LAYOUTS,
  type ReadSignature,
  readSignature,
  SignatureProblem,
  type SignatureProfile,
  SourcedEnvelope,
  verifySignature,
} from '@rollcall/protocol'
import type { Command } from 'commander'
import { callWithDatabase } from '../environment.ts'
import { CommandError, EXIT_CODES } from '../failure.ts'
import { readFileOrStdin } from '../input.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { everyProfile, profileText } from '../profile.ts'
import { listenForStop } from '../stop.ts'

export function defineCommand(command: Command): void {
  withJsonOption(command)
    .argument('<message file>', 'an envelope as it was sent, byte for byte; - for standard input')
    .option('--key <file>', "a public key in PEM, a JWK or a JWK set (default: the sender's registered keys)")
    .option('--participant <sender_id>', "sender_id whose registered keys are tried (default: the header's sender_id)")
    .addHelpText(
      'after',
      `
Every profile is tried with every key. Times are not checked, so an old message can be used.
Exit codes: 0 a profile verifies the message, 1 none does.

Example: rollcall keys probe message.json --key partner.pem`,
    )
    .action(runProbe)
}

interface ProbeOptions extends OutputOptions {
  readonly key?: string
  readonly participant?: string
}

/** A profile and a key that verify the message. */
interface ProfileMatch {
  readonly profile: SignatureProfile
  readonly key: PublicKey
  readonly read: ReadSignature
}

async function runProbe(file: string, options: ProbeOptions): Promise<void> {
  listenForStop()
  const envelope = readEnvelope(await readFileOrStdin(file))
  const sender_id = options.participant ?? requireSenderId(envelope)
  const senderKeys = await readSenderKeys(sender_id, options)
  const { matches, problems } = await tryProfiles(envelope, senderKeys)
  const found = matches.map((match) => describeMatch(match, envelope, sender_id))
  const text =
    found.length > 0 ? found.map((row) => matchText(row, sender_id)).join('\n') : probeFailureText(problems, senderKeys.length)
  printResult(options, found.length > 0 ? found : { matches: [], problems }, text)
  if (found.length === 0) process.exitCode = EXIT_CODES.failed
}

/** Reads the message file as an envelope. @throws CommandError */
function readEnvelope(text: string): SourcedEnvelope {
  try {
    return new SourcedEnvelope(text)
  } catch (error) {
    if (error instanceof JsonError) throw new CommandError(`the message file cannot be read as JSON: ${error.message}`)
    throw error
  }
}

function requireSenderId(envelope: SourcedEnvelope): string {
  const header = envelope.member('header')
  const sender_id = isJsonObject(header) ? header.sender_id : undefined
  if (typeof sender_id !== 'string') throw new CommandError('the header of the message has no sender_id')
  return sender_id
}

async function readSenderKeys(sender_id: string, { key }: ProbeOptions): Promise<readonly PublicKey[]> {
  if (key !== undefined) return readPublicKeys({}, { sender_id, keys: await readFileOrStdin(key) })
  const live = await callWithDatabase(listPublicKeys, { sender_id })
  if (live.length === 0) throw new CommandError(`${sender_id} has no valid registered key; give its public key with --key`)
  return live
}

/**
 * Tries every signature profile with the keys for the algorithm of that profile.
 * @returns the matches in the order of `everyProfile`; if there are none, `problems` says for each tried layout why
 */
async function tryProfiles(
  envelope: SourcedEnvelope,
  keys: readonly PublicKey[],
): Promise<{ readonly matches: readonly ProfileMatch[]; readonly problems: Readonly<Record<string, string>> }> {
  const matches: ProfileMatch[] = []
  const problems: Record<string, string> = {}
  for (const profile of everyProfile()) {
    const algorithm = profile.algorithms[0] as AlgorithmName
    const usable = keys.filter((key) => key.use === 'sig' && key.algorithm === algorithm)
    if (usable.length === 0) continue
    try {
      const read = readSignature(envelope.member('signature'), { profile, namespaces: listSignatureNamespaces(envelope) })
      for (const key of usable) {
        if (await canVerify(read, envelope, key)) matches.push({ profile, key, read })
      }
      if (matches.length === 0) problems[profile.layout] = 'no key verifies it in any canonical form and digest'
    } catch (error) {
      if (!(error instanceof SignatureProblem)) throw error
      problems[profile.layout] ??= error.message
    }
  }
  return { matches, problems }
}

async function canVerify(read: ReadSignature, envelope: SourcedEnvelope, key: PublicKey): Promise<boolean> {
  const publicKey = await importVerifyingKey(key.public_jwk, read.algorithm)
  // `sender_id` null: a signature that names another sender than the header is accepted here. `describeMatch` reports it.
  return verifySignature({ ...read, sender_id: null }, envelope, publicKey).then(
    () => true,
    (error: unknown) => {
      if (error instanceof SignatureProblem) return false
      throw error
    },
  )
}

/**
 * The accepted values of `namespace="…"` in the signature. The server has a list of them. This command accepts any value, so the
 * value in the signature is returned; empty when the signature has none.
 */
function listSignatureNamespaces(envelope: SourcedEnvelope): readonly string[] {
  const namespace = findSignatureNamespace(envelope)
  return namespace === null ? [] : [namespace]
}

function findSignatureNamespace(envelope: SourcedEnvelope): string | null {
  const signature = envelope.member('signature')
  return typeof signature === 'string' ? (/\bnamespace="([^"]*)"/.exec(signature)?.[1] ?? null) : null
}

function describeMatch({ profile, key, read }: ProfileMatch, envelope: SourcedEnvelope, sender_id: string) {
  const { expires: hasTimes } = LAYOUTS[profile.layout]
  const remarks = [
    ...(read.kid !== null && read.kid !== key.kid
      ? [`the signature calls the key ${read.kid}, and it is registered as ${key.kid}`]
      : []),
    ...(read.sender_id !== null && read.sender_id !== requireSenderId(envelope)
      ? ["kidId must name the sender_id of the header's sender_id"]
      : []),
    ...(sender_id !== requireSenderId(envelope) ? ["the key is of another participant than the header's sender_id"] : []),
  ]
  return {
    profile: profileText(profile),
    kid: key.kid,
    thumbprint: key.thumbprint,
    namespace: hasTimes ? findSignatureNamespace(envelope) : null,
    remarks,
  }
}

function matchText({ profile, kid, namespace, remarks }: ReturnType<typeof describeMatch>, sender_id: string): string {
  const named = namespace === null ? '' : `, namespace ${namespace}`
  return [
    `verifies: ${profile} with key ${kid}${named}`,
    ...remarks.map((remark) => `  but ${remark}`),
    `  rollcall participant policy '${sender_id}' --profile ${profile}`,
  ].join('\n')
}

function probeFailureText(problems: Readonly<Record<string, string>>, keys: number): string {
  const reasons = Object.entries(problems).map(([layout, problem]) => `  ${layout}: ${problem}`)
  if (reasons.length === 0) return `none of the ${keys} keys is for signatures`
  return ['no profile verifies the message', ...reasons].join('\n')
}
