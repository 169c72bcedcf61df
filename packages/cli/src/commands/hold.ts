/** `rollcall hold`: what is not deleted while somebody needs it. */
import { addHold, listHolds, removeHold } from '@rollcall/admin/persons/holds'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { instant, typeAndValue, wholeNumber } from '../values.ts'

export function addCommand(program: Command): void {
  const hold = program.command('hold').description('keep what somebody needs, such as a court, from prune and erase')
  withJson(hold.command('add'))
    .description('add a hold of a person, of a participant, or of a period')
    .option('--person <identifier>', 'a person, as TYPE=VALUE; stored as pseudonyms')
    .option('--participant <sender_id>', 'a participant')
    .option('--from <time>', 'begin of a period', instant)
    .option('--until <time>', 'end of the period', instant)
    .requiredOption('--reason <text>', 'why, without personal data')
    .addHelpText(
      'after',
      `
A hold of a person covers the accounts about the person. A hold of a participant or a period covers accounts and stored
messages; a hold of a participant keeps the keys of all days. The identifier may stay in the history of the shell.

Example: rollcall hold add --participant spmis.example.org --reason 'case 7/2026'`,
    )
    .action(runAdd)
  withJson(hold.command('list'))
    .description('list the holds in force')
    .addHelpText('after', '\nExample: rollcall hold list')
    .action(runList)
  withJson(hold.command('remove'))
    .description('end a hold: the next prune deletes what it covered')
    .argument('<id>', 'its number', wholeNumber(1))
    .addHelpText('after', '\nExample: rollcall hold remove 1')
    .action(runRemove)
}

interface AddOptions extends OutputOptions {
  readonly person?: string
  readonly participant?: string
  readonly from?: Date
  readonly until?: Date
  readonly reason: string
}

async function runAdd({ person, participant, from, until, reason, ...options }: AddOptions): Promise<void> {
  stopRequest()
  const input = {
    participant,
    reason,
    from: from?.toISOString(),
    until: until?.toISOString(),
    person: person === undefined ? undefined : typeAndValue(person, '--person'),
  }
  const hold = await withDatabase((needs) => addHold(needs, input))
  print(options, hold, `hold ${hold.id} is in force`)
}

async function runList(options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = await withDatabase((needs) => listHolds(needs, {}))
  const columns = ['id', 'kind', 'participant', 'from', 'until', 'reason', 'created_by', 'created_at']
  print(
    options,
    rows,
    table(
      columns,
      rows.map((row) => ({ ...row })),
      'no holds; rollcall hold add makes one',
    ),
  )
}

async function runRemove(id: number, options: OutputOptions): Promise<void> {
  stopRequest()
  const removed = await withDatabase((needs) => removeHold(needs, { id }))
  print(options, removed, `hold ${removed.id} is not in force any more`)
}
