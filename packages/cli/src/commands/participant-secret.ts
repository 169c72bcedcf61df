/** `rollcall participant secret`: the client secrets with which participants get access tokens. */
import { addSecret, newSecret } from '@rollcall/server'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { participantNamed } from '../participants.ts'
import { stopRequest } from '../stop.ts'

export function addSecretCommands(participant: Command): void {
  const secret = participant.command('secret').description('manage the client secrets of participants')
  withJson(secret.command('rotate'))
    .description(
      'give a participant a new client secret and print it, once; the secret before it stays valid too',
    )
    .argument('<sender_id>', 'sender_id of the participant')
    .addHelpText(
      'after',
      `
A participant has two valid secrets at most: an older one ends at once. To end a secret that leaked, rotate twice.

Example: rollcall participant secret rotate spmis.example.org`,
    )
    .action(runRotate)
}

async function runRotate(sender_id: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const { secret: client_secret, sha256 } = newSecret()
  const { client_id } = await withDatabase(async (db) => {
    const participant = await participantNamed(db, sender_id)
    await addSecret(db, participant, sha256)
    return participant
  })
  const text = [
    `client_id      ${client_id}`,
    `client_secret  ${client_secret}`,
    'The secret is not kept and cannot be shown again. The one before it is good until the next rotation.',
  ].join('\n')
  print(options, { sender_id, client_id, client_secret }, text)
}
