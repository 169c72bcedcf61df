/** `rollcall registry remove`, `rollcall participant remove`. */
import { removeParticipant, removeRegistry } from '@rollcall/admin/removal'
import type { Command } from 'commander'
import { counted } from '../asking/summary.ts'
import { withDatabase } from '../environment.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

interface RemoveOptions extends OutputOptions {
  readonly yes?: boolean
  readonly end?: boolean
}

const withRemoval = (command: Command): Command =>
  withJson(command)
    .option('--yes', 'remove it; without this the command only says what would go')
    .option('--end', 'also end what is pending: subscriptions, unanswered requests, deliveries')

export function addRemoveRegistryCommand(registry: Command): void {
  withRemoval(registry.command('remove'))
    .description('remove a registry with its records, grants, subscriptions and stored messages')
    .argument('<namespace>', 'namespace of the registry')
    .addHelpText(
      'after',
      `
Accounts of access stay, and can be verified as before. Nobody is notified. A hold that is in force stops it. To rename a
registry, add a second one, import the records into it, and remove the first one when the participants have changed.

Example: rollcall registry remove old-civil
Example: rollcall registry remove old-civil --end --yes`,
    )
    .action(runRemoveRegistry)
}

export function addRemoveParticipantCommand(participant: Command): void {
  withRemoval(participant.command('remove'))
    .description('remove a participant with its secrets, grants, subscriptions and stored messages')
    .argument('<sender_id>', 'its sender_id')
    .addHelpText(
      'after',
      `
Accounts of access and its public keys stay: what it has signed can still be verified. A hold of the participant, or of a
period, stops it.

Example: rollcall participant remove old.example.org
Example: rollcall participant remove old.example.org --end --yes`,
    )
    .action(runRemoveParticipant)
}

async function runRemoveRegistry(namespace: string, { yes = false, end, ...options }: RemoveOptions): Promise<void> {
  stopRequest()
  const result = await withDatabase((needs) => removeRegistry(needs, { namespace, end, dry_run: !yes }))
  const records = Object.entries(result.records).map(([type, count]) => `${count} ${type}`)
  print(options, result, removedText(namespace, result, [`records: ${records.join(', ')}`]))
}

async function runRemoveParticipant(sender_id: string, { yes = false, end, ...options }: RemoveOptions): Promise<void> {
  stopRequest()
  const result = await withDatabase((needs) => removeParticipant(needs, { sender_id, end, dry_run: !yes }))
  print(options, result, removedText(sender_id, result, []))
}

type Removed = Pick<Awaited<ReturnType<typeof removeParticipant>>, 'dry_run' | 'pending' | 'stored'>

function removedText(name: string, { dry_run, pending, stored }: Removed, more: readonly string[]): string {
  const { keys, ...gone } = stored
  return [
    dry_run ? `nothing is removed; --yes removes ${name} with:` : `removed ${name}, with:`,
    ...more,
    `stored: ${countsText(gone)}`,
    `pending, which --end ends: ${countsText(pending)}`,
    `what stays: the accounts of access${keys === undefined ? '' : `, and ${counted(keys, 'public key')}`}`,
  ].join('\n')
}

const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ')
