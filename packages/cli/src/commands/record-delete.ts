/** `rollcall record delete`: deletes records of a registry by their primary identifiers. */
import { deleteRecords } from '@rollcall/admin/records/records'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { readFileOrStdin } from '../input.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'

export function defineCommand(command: Command): void {
  withJsonOption(command)
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
}

interface DeleteOptions extends OutputOptions {
  readonly file?: string
}

async function runDelete(namespace: string, type: string, words: readonly string[], options: DeleteOptions): Promise<void> {
  const { signal } = listenForStop()
  const named = [...words, ...(await readIdentifierFile(options.file))]
  if (named.length === 0) throw new CommandError('name the records: by identifiers, or with --file')
  const result = await withDatabase((deps) =>
    deleteRecords({ ...deps, signal }, { namespace, record_type: type, identifiers: named }),
  )
  const { asked, deleted } = result
  const missing = asked === deleted ? '' : `; ${asked - deleted} were not there`
  printResult(options, result, `${deleted} of ${asked} records are deleted from ${namespace}${missing}`)
}

async function readIdentifierFile(file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return []
  const text = await readFileOrStdin(file)
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
