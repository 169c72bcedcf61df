/** `rollcall erase`: erases a person from what is stored beside the records. */
import { erasePerson } from '@rollcall/admin/persons/erase'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { counted, type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { personOf, withPerson } from '../values.ts'

export function addCommand(program: Command): void {
  const erase = program.command('erase').description('erase a person from accounts and from what waits to be sent')
  withPerson(withJson(erase.command('person')))
    .description('erase the pseudonyms of a person in the accounts of access, and withdraw waiting notifications')
    .requiredOption('--reason <text>', 'why, without personal data: a signed tombstone has it for ever')
    .option('--dry-run', 'only count')
    .addHelpText(
      'after',
      `
It needs the owner of the database (ROLLCALL_OWNER_DATABASE_URL). Records of the person stay: run rollcall record delete
afterwards, because the records name the other identifiers of the person. A hold of the person stops it.
The identifier may stay in the history of the shell.

Example: rollcall erase person UIN 8128560370 --reason 'order 12/2026' --dry-run`,
    )
    .action(runErase)
}

interface EraseOptions extends OutputOptions {
  readonly reason: string
  readonly dryRun?: boolean
}

async function runErase(
  type: string,
  value: string | undefined,
  { reason, dryRun = false, ...options }: EraseOptions,
): Promise<void> {
  stopRequest()
  const result = await withDatabase(({ config: { limits }, ...needs }) =>
    erasePerson({ ...needs, limits }, { ...personOf(type, value), reason, dry_run: dryRun }),
  )
  const { accounts, notifications, underway, tombstones, stored_until, records } = result
  const places = records.map(({ namespace, record_type }) => `${record_type} of ${namespace}`)
  const lines = [
    dryRun ? 'nothing is erased; this would be:' : 'erased:',
    `accounts: ${counted(accounts.rows, 'pseudonym')} in ${counted(accounts.entries, 'entry', 'entries')}, of ${counted(result.identifiers, 'identifier')}`,
    ...(accounts.held === 0 ? [] : [`accounts: ${accounts.held} pseudonyms stay for a hold`]),
    `notifications: ${notifications} waiting ones are withdrawn, ${underway} messages are being sent already`,
    `tombstones of deleted records: ${tombstones}`,
    `stored messages are encrypted by day; the last that may name the person is erased on ${stored_until.slice(0, 10)}`,
    ...(places.length === 0 ? [] : [`records that are still there: ${places.join(', ')}`]),
  ]
  print(options, result, lines.join('\n'))
}
