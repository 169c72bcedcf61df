/** `rollcall participant key`: the public keys that participants have registered. */
import { addParticipantKeys, listParticipantKeys, revokeParticipantKey } from '@rollcall/admin/participants/keys'
import { type Command, Option } from 'commander'
import { ask } from '../environment.ts'
import { readInput } from '../input.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { instant } from '../values.ts'

export function addKeyCommands(participant: Command): void {
  const key = participant.command('key').description('manage the public keys of participants')
  withJson(key.command('add'))
    .description('register public keys of a participant; servers accept them within a second')
    .argument('<sender_id>', 'sender_id of the participant')
    .argument('<file>', 'a public key in PEM, a JWK or a JWK set; - for standard input')
    .option('--kid <kid>', "kid of the key in messages (default: the JWK's kid, else its RFC 7638 thumbprint)")
    .addOption(
      new Option('--use <use>', "sig or enc (default: the JWK's use, else what its algorithm is for)").choices([
        'sig',
        'enc',
      ]),
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
    .description('revoke a key for ever; within a second no server accepts it')
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
  readonly use?: 'sig' | 'enc'
  readonly from?: Date
  readonly until?: Date | 'never'
}

async function runAdd(sender_id: string, file: string, options: AddOptions): Promise<void> {
  stopRequest()
  const { kid, use, from, until } = options
  const keys = await readInput(file)
  const valid_until = until === 'never' ? null : until?.toISOString()
  const times = { valid_from: from?.toISOString(), valid_until }
  const added = await ask(addParticipantKeys, { sender_id, keys, kid, use, ...times })
  const text = added.map((key) => `${sender_id} has key ${key.kid} (${key.use}, ${key.algorithm})`)
  print(options, added, text.join('\n'))
}

async function runList(sender_id: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = await ask(listParticipantKeys, { sender_id })
  const columns = ['kid', 'use', 'algorithm', 'state', 'valid_from', 'valid_until', 'thumbprint']
  print(options, rows, table(columns, rows, 'no keys yet; rollcall participant key add registers one'))
}

async function runRevoke(sender_id: string, kid: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const revoked = await ask(revokeParticipantKey, { sender_id, kid })
  print(options, revoked, `key ${revoked.kid} of ${sender_id} is revoked`)
}
