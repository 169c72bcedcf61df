/** The commands `rollcall registry remove` and `rollcall participant remove`. */

import type { removeParticipant } from '@rollcall/admin/removal'
import { type AdminFunction, adminCommand } from '../admin-command.ts'
import type { LeafCommand } from '../command-tree.ts'
import { countWithNoun } from '../output.ts'

interface RegistryOrParticipantInput {
  readonly end?: boolean | undefined
  readonly dry_run?: boolean | undefined
}

type RemovalResult = Pick<Awaited<ReturnType<typeof removeParticipant>>, 'dry_run' | 'pending' | 'stored'> & {
  readonly records?: Readonly<Record<string, number>>
}

interface RemovalDefinition<Input, Result> {
  readonly load: () => Promise<AdminFunction<Input, Result, unknown>>
  readonly about: string
  readonly notes: string
  readonly example: string
}

/**
 * Makes a command that removes a registry or a participant.
 * @param name the member of the input that names the registry or participant
 */
export const removalCommand = <Input extends RegistryOrParticipantInput, Result extends RemovalResult>(
  name: string,
  { load, about, notes, example }: RemovalDefinition<Input, Result>,
): LeafCommand =>
  adminCommand(load, {
    about,
    args: name,
    options: { end: { help: 'also end what is pending: subscriptions, unanswered requests, deliveries' }, dry_run: null },
    more: { '--yes': 'remove it; without this the command only says what would go' },
    notes,
    examples: [example, `${example} --end --yes`],
    input: ({ yes }) => ({ dry_run: yes !== true }) as Partial<Input>,
    text: (removed, given) => removedText(String(given[name]), removed),
  })

function removedText(name: string, { dry_run, pending, stored, records }: RemovalResult): string {
  const { keys, ...gone } = stored
  const types = Object.entries(records ?? {}).map(([type, count]) => `${count} ${type}`)
  return [
    dry_run ? `nothing is removed; --yes removes ${name} with:` : `removed ${name}, with:`,
    ...(records === undefined ? [] : [`records: ${types.join(', ')}`]),
    `stored: ${countsText(gone)}`,
    `pending, which --end ends: ${countsText(pending)}`,
    `what stays: the audit log${keys === undefined ? '' : `, and ${countWithNoun(keys, 'public key')}`}`,
  ].join('\n')
}

const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ')
