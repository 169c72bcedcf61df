/** `rollcall import`: records from a file into a registry. */
import { EVENT_MODES, type EventMode, importRecords } from '@rollcall/server/admin/records'
import { type Command, Option } from 'commander'
import { withDatabase } from '../environment.ts'
import { EXIT } from '../failure.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { reportImport } from '../progress.ts'
import {
  type RecordFileOptions,
  readRecordFileOptions,
  withRecordFileOptions,
} from '../record-file-options.ts'
import { stopRequest } from '../stop.ts'

export function addCommand(program: Command): void {
  const command = program
    .command('import')
    .description(
      'import records into a registry; each replaces the record that has the same primary identifier',
    )
    .argument('<namespace>', 'namespace of the registry')
    .argument('<file>', 'NDJSON, a JSON array or CSV; - for standard input')
  withJson(withRecordFileOptions(command, 'name.given_name or identifier[UIN]'))
    .option('--record-type <type>', "record type of all records (default: each record's @type)")
    .addOption(
      new Option(
        '--events <which>',
        'whether subscribers are notified of the changes (default: none for a registry without records, else changes)',
      ).choices(EVENT_MODES),
    )
    .addHelpText(
      'after',
      `
The command prints how many records are new, how many replaced one with the same primary identifier, and in how
many records each attribute was read. A value under a name that docs/kinds does not list is stored in the
record and cannot be searched.

After an interruption, run the same command again: the import continues where it stopped.

Exit codes: 0 all records are imported, 3 some lines were rejected, 4 interrupted, 1 failed.

Example: rollcall import civil people.ndjson
Example: rollcall import ibr beneficiaries.csv --map columns.json --rejects bad-lines.ndjson`,
    )
    .action(runImport)
}

interface CommandOptions extends RecordFileOptions, OutputOptions {
  readonly recordType?: string
  readonly events?: EventMode
}

async function runImport(namespace: string, file: string, options: CommandOptions): Promise<void> {
  const { signal } = stopRequest()
  const { recordType: record_type, rejects, events } = options
  const read = await readRecordFileOptions(options)
  const begun = Date.now()
  const progress = reportImport()
  const files = { source: file === '-' ? process.stdin : file, ...(rejects && { rejectsPath: rejects }) }
  const result = await withDatabase(({ config: { limits }, ...needs }) =>
    importRecords(
      { ...needs, limits, ...files, signal, onProgress: progress.update },
      { namespace, ...read, record_type, events },
    ),
  ).finally(() => progress.stop())
  const seconds = (Date.now() - begun) / 1_000
  const { namespace: _, ...counts } = result
  print(options, { namespace, file, ...counts, seconds }, resultText(file, result, seconds))
  if (!result.finished) process.exitCode = EXIT.interrupted
  else if (result.rejected > 0) process.exitCode = EXIT.some_rejected
}

function resultText(
  file: string,
  result: Awaited<ReturnType<typeof importRecords>>,
  seconds: number,
): string {
  const { namespace, lines, written, replaced, rejected, finished, read } = result
  const { new: added, resumed_from: resumedFrom, rejects_file: rejectsPath } = result
  const rate = Math.round((lines - resumedFrom) / Math.max(seconds, 0.001))
  return [
    `${written} of ${lines} records are in ${namespace}: ${added} new, ${replaced} replaced (${seconds.toFixed(1)} s, ${rate}/s)`,
    ...(resumedFrom > 0 ? [`${resumedFrom} of them were imported before`] : []),
    ...(rejected > 0
      ? [`${rejected} were rejected${rejectsPath === null ? '' : `: ${rejectsPath} says why`}`]
      : []),
    ...Object.entries(read).flatMap(([recordType, counts]) => readText(recordType, counts)),
    ...(finished ? [] : [`Interrupted; the records counted here are stored. ${howToGoOn(file)}`]),
  ].join('\n')
}

/** In how many records each attribute was read, and which were read in none: their names may be spelled in an unknown way. */
function readText(recordType: string, counts: Readonly<Record<string, number>>): string[] {
  const found = Object.entries(counts).filter(([, count]) => count > 0)
  const none = Object.keys(counts).filter((name) => counts[name] === 0)
  return [
    `${recordType}, records in which it was read: ${found.map(([name, count]) => `${name} ${count}`).join(', ')}`,
    ...(none.length > 0 ? [`${recordType}, read in no record: ${none.join(', ')}`] : []),
  ]
}

const howToGoOn = (file: string): string =>
  file === '-'
    ? 'Standard input cannot be resumed: send all of it again. No record will be stored twice.'
    : 'Run the same command again to resume.'
