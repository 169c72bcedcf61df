/** `rollcall participant key`: the public keys that participants have registered. */
import {
  addParticipantKey,
  type KeyUse,
  listParticipantKeys,
  type ParticipantKey,
  type PublicKey,
  readKeyFile,
  readPublicKey,
  revokeParticipantKey,
} from '@rollcall/server'
import { type Command, Option } from 'commander'
import { withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { readInput } from '../input.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { participantNamed } from '../participants.ts'
import { stopRequest } from '../stop.ts'
import { instant } from '../values.ts'

export function addKeyCommands(participant: Command): void {
  const key = participant.command('key').description('manage the public keys of participants')
  withJson(key.command('add'))
    .description('register public keys of a participant; servers take them within a second')
    .argument('<sender_id>', 'sender_id of the participant')
    .argument('<file>', 'a public key in PEM, a JWK or a JWK set; - for standard input')
    .option(
      '--kid <kid>',
      "kid of the key in messages (default: the JWK's kid, else its RFC 7638 thumbprint)",
    )
    .addOption(
      new Option(
        '--use <use>',
        "sig or enc (default: the JWK's use, else what its algorithm is for)",
      ).choices(['sig', 'enc']),
    )
    .option('--from <time>', 'time from which the key is valid, such as 2026-07-01 (default: now)', instant)
    .option('--until <time>', 'time until which the key is valid; never for no end (default)', instantOrNever)
    .addHelpText(
      'after',
      `
A private key is refused. A key that is registered already gets the new kid, use and times.

Example: rollcall participant key add spmis.example.org public-key.pem --kid 2026-07`,
    )
    .action(runAdd)
  withJson(key.command('list'))
    .description('list the keys that were registered for a participant')
    .argument('<sender_id>', 'sender_id of the participant')
    .addHelpText(
      'after',
      `
States: live; later, not valid yet; over, not valid any more; revoked. Keys that a jwks_uri lists are not shown.

Example: rollcall participant key list spmis.example.org --json`,
    )
    .action(runList)
  withJson(key.command('revoke'))
    .description('revoke a key for ever; within a second no server takes it any more')
    .argument('<sender_id>', 'sender_id of the participant')
    .argument('<kid>', 'kid of the key')
    .addHelpText(
      'after',
      `
Write -- before a kid that begins with -, such as: spmis.example.org -- -x7Jk.

Example: rollcall participant key revoke spmis.example.org 2026-07`,
    )
    .action(runRevoke)
}

const instantOrNever = (text: string): Date | 'never' => (text === 'never' ? text : instant(text))

interface AddOptions extends OutputOptions {
  readonly kid?: string
  readonly use?: KeyUse
  readonly from?: Date
  readonly until?: Date | 'never'
}

async function runAdd(sender_id: string, file: string, options: AddOptions): Promise<void> {
  stopRequest()
  const { from, until } = options
  const times = {
    ...(from !== undefined && { valid_from: from }),
    ...(until !== undefined && { valid_until: until === 'never' ? null : until }),
  }
  const keys = await readKeys(file, sender_id, options)
  const added = await withDatabase(async (db) => {
    const participant = await participantNamed(db, sender_id)
    const entries: ParticipantKey[] = []
    for (const key of keys) entries.push(await addParticipantKey(db, participant, { ...key, ...times }))
    return entries
  })
  const rows = added.map(describe)
  const text = rows.map(({ kid, use, algorithm }) => `${sender_id} has key ${kid} (${use}, ${algorithm})`)
  print(options, rows, text.join('\n'))
}

/** All of them are good before the first is registered. */
async function readKeys(
  file: string,
  sender_id: string,
  { kid, use }: AddOptions,
): Promise<readonly PublicKey[]> {
  const jwks = readKeyFile(await readInput(file))
  if (jwks.length > 1 && kid !== undefined) {
    throw new CommandError(
      '--kid names one key, and the file holds more; put each key into a file of its own',
    )
  }
  const context = { sender_id, ...(kid !== undefined && { kid }), ...(use !== undefined && { use }) }
  return Promise.all(jwks.map((jwk) => readPublicKey(jwk, context)))
}

async function runList(sender_id: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const keys = await withDatabase(async (db) =>
    listParticipantKeys(db, await participantNamed(db, sender_id)),
  )
  const rows = keys.map(describe)
  const columns = ['kid', 'use', 'algorithm', 'state', 'valid_from', 'valid_until', 'thumbprint']
  print(options, rows, table(columns, rows, 'no keys yet; rollcall participant key add registers one'))
}

async function runRevoke(sender_id: string, kid: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const revoked = await withDatabase(async (db) =>
    revokeParticipantKey(db, await participantNamed(db, sender_id), kid),
  )
  print(options, describe(revoked), `key ${revoked.kid} of ${sender_id} is revoked`)
}

function describe(key: ParticipantKey) {
  const { kid, use, algorithm, thumbprint, valid_from, valid_until, revoked_at } = key
  return {
    kid,
    use,
    algorithm,
    state: stateOf(key),
    thumbprint,
    valid_from: valid_from.toISOString(),
    valid_until: valid_until?.toISOString() ?? null,
    revoked_at: revoked_at?.toISOString() ?? null,
  }
}

function stateOf({ valid_from, valid_until, revoked_at }: ParticipantKey): string {
  if (revoked_at !== null) return 'revoked'
  const now = Date.now()
  if (now < valid_from.getTime()) return 'later'
  return valid_until === null || now < valid_until.getTime() ? 'live' : 'over'
}
