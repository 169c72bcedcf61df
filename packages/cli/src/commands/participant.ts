/** `rollcall participant`: who may ask the registries. */
import {
  addParticipant,
  addSecret,
  ensureDrain,
  listParticipants,
  newSecret,
  type Participant,
  setParticipantStatus,
} from '@rollcall/server'
import type { Command } from 'commander'
import { isDemoDatabase } from '../demo/directory.ts'
import { withDatabase } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { limit, wholeNumber } from '../values.ts'
import { addCallbackCommand } from './participant-callback.ts'
import { addHostCommands } from './participant-host.ts'
import { addKeyCommands } from './participant-key.ts'
import { addPolicyCommand } from './participant-policy.ts'
import { addSecretCommands } from './participant-secret.ts'
import { addTestCommand } from './participant-test.ts'

export function addCommand(program: Command): void {
  const participant = program
    .command('participant')
    .description('manage the participants, which may ask the registries')
  withJson(participant.command('add'))
    .description('add a participant and print its client secret, once')
    .argument('<sender_id>', 'its sender_id in messages')
    .requiredOption('--name <name>', 'its name for people')
    .option(
      '--max-page-size <records>',
      "largest page that it may ask for, in records (default: the server's limit)",
      wholeNumber(1),
    )
    .option(
      '--rate-limit <requests>',
      "requests a second, or unlimited (default: the server's limit)",
      limit({ whole: false }),
    )
    .option(
      '--concurrency-limit <requests>',
      "requests at a time on one node, or unlimited (default: the server's limit)",
      limit({ whole: true }),
    )
    .addHelpText(
      'after',
      `
Its messages must be signed: register its keys with rollcall participant key add, or say otherwise with
rollcall participant policy. docs/onboarding.md goes through all of it.

Example: rollcall participant add spmis.example.org --name 'Social protection MIS'`,
    )
    .action(runAdd)
  withJson(participant.command('list'))
    .description('list the participants')
    .addHelpText('after', '\nExample: rollcall participant list --json')
    .action(runList)
  for (const { word, status, effect } of STATUS_COMMANDS) {
    withJson(participant.command(word))
      .description(`${word} a participant: ${effect}`)
      .argument('<sender_id>', 'its sender_id')
      .addHelpText('after', `\nExample: rollcall participant ${word} spmis.example.org`)
      .action((sender_id: string, options: OutputOptions) => runStatus(sender_id, status, options))
  }
  addKeyCommands(participant)
  addSecretCommands(participant)
  addPolicyCommand(participant)
  addHostCommands(participant)
  addCallbackCommand(participant)
  addTestCommand(participant)
}

const STATUS_COMMANDS = [
  { word: 'disable', status: 'disabled', effect: 'within a second no server takes its tokens any more' },
  { word: 'enable', status: 'active', effect: 'its secrets and unexpired tokens are good again' },
] as const

interface AddOptions extends OutputOptions {
  readonly name: string
  readonly maxPageSize?: number
  readonly rateLimit?: number
  readonly concurrencyLimit?: number
}

async function runAdd(sender_id: string, options: AddOptions): Promise<void> {
  stopRequest()
  const { secret, sha256 } = newSecret()
  const added = await withDatabase(async (db) => {
    const participant = await addParticipant(db, {
      sender_id,
      name: options.name,
      max_page_size: options.maxPageSize ?? null,
      rate_limit: options.rateLimit ?? null,
      concurrency_limit: options.concurrencyLimit ?? null,
      demo: await isDemoDatabase(db),
    })
    await addSecret(db, participant, sha256)
    return participant
  })
  const text = [
    `added ${added.sender_id}`,
    `client_id      ${added.client_id}`,
    `client_secret  ${secret}`,
    'The secret is not kept and cannot be shown again.',
  ].join('\n')
  print(options, { ...describe(added), client_secret: secret }, text)
}

async function runList(options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = (await withDatabase(listParticipants)).map(describe)
  const columns = ['sender_id', 'name', 'status', 'signature_policy', 'client_id', 'max_page_size', 'demo']
  print(options, rows, table(columns, rows, 'no participants yet; rollcall participant add makes one'))
}

async function runStatus(
  sender_id: string,
  status: Participant['status'],
  options: OutputOptions,
): Promise<void> {
  stopRequest()
  const changed = await withDatabase(async (db) => {
    const participant = await setParticipantStatus(db, sender_id, status)
    // What waited for it need not wait any longer.
    if (status === 'active') await ensureDrain(db, participant.id)
    return participant
  })
  print(options, describe(changed), `${changed.sender_id} is ${changed.status}`)
}

function describe(participant: Participant) {
  const { sender_id, client_id, name, status, signature_policy, max_page_size, demo } = participant
  return {
    sender_id,
    client_id,
    name,
    status,
    signature_policy,
    max_page_size,
    rate_limit: limitText(participant.rate_limit),
    concurrency_limit: limitText(participant.concurrency_limit),
    demo,
  }
}

/** JSON has no infinity. */
const limitText = (value: number | null): number | string | null => (value === Infinity ? 'unlimited' : value)
