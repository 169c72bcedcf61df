/** `rollcall record`: single records of a registry. */

import { mergeRecords, unmergeRecords } from '@rollcall/admin/records/merge'
import { showRecord } from '@rollcall/admin/records/record'
import { deleteRecords } from '@rollcall/admin/records/records'
import type { Command } from 'commander'
import { counted } from '../asking/summary.ts'
import { withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { readInput } from '../input.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { identifierOf, personOf, typeAndValue, withPerson } from '../values.ts'
import { addProtectionCommands } from './record-protection.ts'

export function addCommand(program: Command): void {
  const record = program.command('record').description('get, delete, merge or protect single records of a registry')
  withPerson(withJson(record.command('get')).argument('<namespace>', 'namespace of the registry'))
    .description('print the records that an identifier names, whole; who looked is accounted first')
    .addHelpText('after', `\n${HISTORY}\n\nExample: rollcall record get civil UIN 8128560370`)
    .action(runGet)
  withJson(record.command('delete'))
    .description('delete records; the primary identifier and the time of each deletion are stored as a tombstone')
    .argument('<namespace>', 'namespace of the registry')
    .argument('<record-type>', 'one of its record types')
    .argument('[identifier...]', 'primary identifiers of the records')
    .option('--file <file>', 'a file with one primary identifier on each line; - for standard input')
    .addHelpText(
      'after',
      `
An identifier on the command line may stay in the history of the shell; one in --file does not.

Example: rollcall record delete civil Person --file leavers.txt`,
    )
    .action(runDelete)
  withJson(record.command('merge'))
    .description(
      'merge a record into another one: its identifiers find that one, and who was notified of it is told so',
    )
    .argument('<namespace>', 'namespace of the registry')
    .argument('<survivor>', 'identifier of the record that stays, as TYPE=VALUE')
    .argument('<retired>', 'identifier of the record that is merged into it, as TYPE=VALUE')
    .option(...RECORD_TYPE)
    .addHelpText(
      'after',
      `
The data of the retired record are put aside, its enrolments too, and nothing of them is added to the survivor: send the
enrolments again under the survivor's identifier where they still count. rollcall record unmerge restores them.

${HISTORY}

Example: rollcall record merge civil UIN=4103278859 UIN=2215743904`,
    )
    .action(runMerge)
  withJson(record.command('unmerge'))
    .description('take a merge back: the retired record is found again, as it was')
    .argument('<namespace>', 'namespace of the registry')
    .argument('<retired>', 'identifier of the record that was merged into another, as TYPE=VALUE')
    .option(...RECORD_TYPE)
    .addHelpText(
      'after',
      `
What was written to the survivor since the merge stays with the survivor.

${HISTORY}

Example: rollcall record unmerge civil UIN=2215743904`,
    )
    .action(runUnmerge)
  addProtectionCommands(record)
}

const RECORD_TYPE = [
  '--record-type <type>',
  'record type of the records (default: all record types are searched)',
] as const

const HISTORY = 'Identifiers on the command line may stay in the history of the shell.'

async function runGet(
  namespace: string,
  type: string,
  value: string | undefined,
  options: OutputOptions,
): Promise<void> {
  stopRequest()
  const found = await withDatabase((needs) => showRecord(needs, { namespace, ...personOf(type, value) }))
  print(options, found, found.map(({ record }) => JSON.stringify(record, null, 2)).join('\n'))
}

interface MergeOptions extends OutputOptions {
  readonly recordType?: string
}

async function runMerge(namespace: string, survivor: string, retired: string, options: MergeOptions): Promise<void> {
  stopRequest()
  const input = {
    namespace,
    record_type: options.recordType,
    survivor: identifierIn(survivor, '<survivor>'),
    retired: identifierIn(retired, '<retired>'),
  }
  const result = await withDatabase(({ config: { limits }, ...needs }) => mergeRecords({ ...needs, limits }, input))
  print(options, result, `the records are merged: ${counted(result.notified, 'subscription')} notified`)
}

async function runUnmerge(namespace: string, retired: string, options: MergeOptions): Promise<void> {
  stopRequest()
  const input = { namespace, record_type: options.recordType, retired: identifierIn(retired, '<retired>') }
  const result = await withDatabase(({ config: { limits }, ...needs }) => unmergeRecords({ ...needs, limits }, input))
  print(options, result, `the merge is taken back: ${counted(result.notified, 'subscription')} notified`)
}

const identifierIn = (text: string, name: string) => identifierOf(typeAndValue(text, name))

interface DeleteOptions extends OutputOptions {
  readonly file?: string
}

async function runDelete(
  namespace: string,
  type: string,
  words: readonly string[],
  options: DeleteOptions,
): Promise<void> {
  const { signal } = stopRequest()
  const named = [...words, ...(await identifiersOf(options.file))]
  if (named.length === 0) throw new CommandError('name the records: by identifiers, or with --file')
  const result = await withDatabase(({ config: { limits }, ...needs }) =>
    deleteRecords({ ...needs, limits, signal }, { namespace, record_type: type, identifiers: named }),
  )
  const { asked, deleted } = result
  const missing = asked === deleted ? '' : `; ${asked - deleted} were not there`
  print(options, result, `${deleted} of ${asked} records are deleted from ${namespace}${missing}`)
}

async function identifiersOf(file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return []
  const text = await readInput(file)
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
