/** `rollcall participant`: who may ask the registries. */
import {
  addParticipant,
  disableParticipant,
  enableParticipant,
  listParticipants,
} from '@rollcall/admin/participants/participants'
import type { Command } from 'commander'
import { ask, askToAdd } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { limit, wholeNumber } from '../values.ts'
import { readYaml } from '../yaml.ts'
import { addCallbackCommand } from './participant-callback.ts'
import { addCheckCommands } from './participant-check.ts'
import { addHostCommands } from './participant-host.ts'
import { addKeyCommands } from './participant-key.ts'
import { addLimitsCommand } from './participant-limits.ts'
import { addLinkCommand } from './participant-link.ts'
import { addPolicyCommand } from './participant-policy.ts'
import { addSecretCommands } from './participant-secret.ts'
import { addSubscriptionsCommand } from './participant-subscriptions.ts'
import { addTestCommand } from './participant-test.ts'
import { addRemoveParticipantCommand } from './removal.ts'

export function addCommand(program: Command): void {
  const participant = program
    .command('participant')
    .description('manage the participants: the systems that may send requests')
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
    .option('--sandbox', 'for sandbox registries alone, until rollcall participant promote makes it live')
    .option('--grant <file>', 'what it may do: a map of namespaces to grants, in YAML or JSON; - for standard input')
    .addHelpText(
      'after',
      `
It may do nothing in a registry until something is granted: with --grant, or with rollcall grant set.
Its messages must be signed: register its keys with rollcall participant key add, or change its policy with
rollcall participant policy. docs/onboarding.md describes all steps.

Example: rollcall participant add spmis.example.org --name 'Social protection MIS'
Example: rollcall participant add health.example.org --name 'Health insurance' --grant grants.yaml
Example: rollcall participant add new.example.org --name 'A system that is tried out' --sandbox`,
    )
    .action(runAdd)
  withJson(participant.command('list'))
    .description('list the participants')
    .addHelpText('after', '\nExample: rollcall participant list --json')
    .action(runList)
  for (const { word, act, effect } of STATUS_COMMANDS) {
    withJson(participant.command(word))
      .description(`${word} a participant: ${effect}`)
      .argument('<sender_id>', 'its sender_id')
      .addHelpText('after', `\nExample: rollcall participant ${word} spmis.example.org`)
      .action((sender_id: string, options: OutputOptions) => runStatus(act, sender_id, options))
  }
  addKeyCommands(participant)
  addSecretCommands(participant)
  addLinkCommand(participant)
  addPolicyCommand(participant)
  addSubscriptionsCommand(participant)
  addLimitsCommand(participant)
  addHostCommands(participant)
  addCallbackCommand(participant)
  addTestCommand(participant)
  addCheckCommands(participant)
  addRemoveParticipantCommand(participant)
}

const STATUS_COMMANDS = [
  { word: 'disable', act: disableParticipant, effect: 'within a second no server accepts its tokens' },
  { word: 'enable', act: enableParticipant, effect: 'its secrets and unexpired tokens are valid again' },
] as const

interface AddOptions extends OutputOptions {
  readonly name: string
  readonly maxPageSize?: number
  readonly rateLimit?: number
  readonly concurrencyLimit?: number
  readonly grant?: string
  readonly sandbox?: true
}

/** What a file holds; the admin function checks it. */
type Grants = Parameters<typeof addParticipant>[1]['grants']

async function runAdd(sender_id: string, options: AddOptions): Promise<void> {
  stopRequest()
  const { name, maxPageSize: max_page_size, rateLimit, concurrencyLimit } = options
  const limits = { max_page_size, rate_limit: limitIn(rateLimit), concurrency_limit: limitIn(concurrencyLimit) }
  const environment = options.sandbox ? ('sandbox' as const) : undefined
  const add = (grants?: Grants) => askToAdd(addParticipant, { sender_id, name, environment, ...limits, grants })
  const added = await (options.grant === undefined ? add() : addWithGrants(options.grant, add))
  const { granted } = added
  const text = [
    `added ${added.sender_id}${options.sandbox ? ', a sandbox participant' : ''}`,
    `client_id      ${added.client_id}`,
    `client_secret  ${added.client_secret}`,
    'The secret is not stored and cannot be shown again.',
    granted.length > 0
      ? `It has a grant in ${granted.join(', ')}, and may do nothing in other registries.`
      : `Nothing is granted yet: every request is refused until rollcall grant set ${added.sender_id} <namespace> ...`,
  ].join('\n')
  print(options, added, text)
}

async function addWithGrants<Result>(file: string, add: (grants: Grants) => Promise<Result>): Promise<Result> {
  const { value, refusedWithLine } = await readYaml(file, '--grant')
  return refusedWithLine(() => add(value as Grants), ['grants'])
}

async function runList(options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = await ask(listParticipants, {})
  const columns = [
    ...['sender_id', 'name', 'status', 'environment', 'signature_policy', 'client_id'],
    ...['max_page_size', 'demo'],
  ]
  print(options, rows, table(columns, rows, 'no participants yet; rollcall participant add makes one'))
}

async function runStatus(
  act: (typeof STATUS_COMMANDS)[number]['act'],
  sender_id: string,
  options: OutputOptions,
): Promise<void> {
  stopRequest()
  const changed = await ask(act, { sender_id })
  print(options, changed, `${changed.sender_id} is ${changed.status}`)
}

/** JSON has no infinity. */
const limitIn = (value: number | undefined): number | 'unlimited' | undefined =>
  value === Infinity ? 'unlimited' : value
