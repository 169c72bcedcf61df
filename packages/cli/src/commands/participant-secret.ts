/** `rollcall participant secret`: the client secrets with which participants get access tokens. */
import { rotateParticipantSecret } from '@rollcall/admin/participants/participants'
import type { Command } from 'commander'
import { ask } from '../environment.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

export function addSecretCommands(participant: Command): void {
  const secret = participant.command('secret').description('manage the client secrets of participants')
  withJson(secret.command('rotate'))
    .description('give a participant a new client secret and print it, once; the secret before it stays valid too')
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
  const rotated = await ask(rotateParticipantSecret, { sender_id })
  const text = [
    `client_id      ${rotated.client_id}`,
    `client_secret  ${rotated.client_secret}`,
    'The secret is not stored and cannot be shown again. The one before it is good until the next rotation.',
  ].join('\n')
  print(options, rotated, text)
}
