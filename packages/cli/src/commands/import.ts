/** `rollcall import`: reads records from a file into a registry. */
import { EVENT_MODES, type EventMode, importRecords } from '@rollcall/admin/records/records'
import { type Command, Option } from 'commander'
import { withNonDemoDatabase } from '../environment.ts'
import { EXIT_CODES } from '../failure.ts'
import { csvReadingText, importReportText } from '../import-report.ts'
import { takeStandardInput } from '../input.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { reportImportProgress } from '../progress.ts'
import {
  addRecordFileOptions,
  type RecordFileOptions,
  readColumnsToDecide,
  readRecordFileOptions,
} from '../record-file-options.ts'
import { listenForStop } from '../stop.ts'
import { wholeNumberReader } from '../values.ts'

export function addCommand(program: Command): void {
  const command = program
    .command('import')
    .description('import records into a registry; each replaces the record that has the same primary identifier')
    .argument('<namespace>', 'namespace of the registry')
    .argument('<file>', 'NDJSON, a JSON array or CSV; - for standard input')
  withJsonOption(addRecordFileOptions(command, 'name.given_name or identifier[UIN]'))
    .option('--dry-run', 'do everything but write: no record, no event; rejects only into the file of --rejects')
    .option('--lenient', 'keep records of which a value is not understood, and count them')
    .option('--complete', 'the file has all records of the registry, or of --record-type: others are deleted')
    .option(
      '--allow-removal <number>',
      'with --complete: how many may be deleted (default: 2 % of the records)',
      wholeNumberReader(0),
    )
    .option('--removals <file>', 'with --complete: file to which the identifiers of those who go are added')
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
A value that an attribute cannot hold, such as a date in an unknown format, rejects its record; with --lenient the
record is stored, and counted. The report at the end says for each column and each attribute how many values were
understood, empty and not understood, with line numbers and never with values (docs/import.md). A value under a name
that docs/kinds does not list is stored in the record and cannot be searched.

After an interruption, run the same command again: the import continues where it stopped.

The delimiter and the encoding of a CSV file, and whether it has a header line, are found out and said.

With --complete, a line that is stored already as it is is not written, and a record that no line names is deleted, as by
rollcall record delete. Nothing is deleted if that were more than 2 % of the records, unless --allow-removal names a
number that is enough, or if a rejected line does not say whose record it is. With --dry-run and --removals the file
shows who would go: personal data.

Exit codes, also of a dry run: 0 all records are imported, 3 some lines were rejected, 4 interrupted, 1 failed, or
records were not deleted.

Example: rollcall import civil people.ndjson
Example: rollcall import civil people.ndjson --dry-run
Example: rollcall import civil people.ndjson --complete --allow-removal 40 --dry-run --removals leavers.ndjson
Example: rollcall import ibr beneficiaries.csv --map columns.json --rejects bad-lines.ndjson`,
    )
    .action(runImport)
}

interface ImportCommandOptions extends RecordFileOptions, OutputOptions {
  readonly recordType?: string
  readonly lenient?: boolean
  readonly dryRun?: boolean
  readonly events?: EventMode
  readonly complete?: boolean
  readonly allowRemoval?: number
  readonly removals?: string
}

async function runImport(namespace: string, file: string, options: ImportCommandOptions): Promise<void> {
  const { signal } = listenForStop()
  const { recordType: record_type, rejects, events, lenient, dryRun: dry_run, complete } = options
  const { removals, allowRemoval: allow_removal } = options
  const read = await readRecordFileOptions(options)
  const toDecide = await readColumnsToDecide(options.map)
  const begun = Date.now()
  const progress = reportImportProgress()
  const files = {
    source: file === '-' ? takeStandardInput() : file,
    ...(rejects && { rejectsPath: rejects }),
    ...(removals && { removalsPath: removals }),
  }
  const result = await withNonDemoDatabase(({ config: { limits }, ...deps }) =>
    importRecords(
      { ...deps, limits, ...files, signal, onProgress: progress.update },
      { namespace, ...read, record_type, events, lenient, dry_run, complete, allow_removal },
    ),
  ).finally(() => progress.stop())
  const seconds = (Date.now() - begun) / 1_000
  const { namespace: _, ...counts } = result
  const undecided_columns = result.report.unused_columns.filter((column) => toDecide.includes(column))
  printResult(
    options,
    { namespace, file, ...counts, undecided_columns, seconds },
    resultText(file, result, seconds, undecided_columns),
  )
  if (!result.finished) process.exitCode = EXIT_CODES.interrupted
  else if (result.removal !== null && result.removal.refusal !== null) process.exitCode = EXIT_CODES.failed
  else if (result.rejected > 0) process.exitCode = EXIT_CODES.some_rejected
}

function resultText(
  file: string,
  result: Awaited<ReturnType<typeof importRecords>>,
  seconds: number,
  undecided: readonly string[],
): string {
  const { namespace, lines, written, rejected, finished, report, dry_run } = result
  const { resumed_from: resumedFrom, rejects_file: rejectsPath } = result
  const rate = `(${seconds.toFixed(1)} s, ${Math.round((lines - resumedFrom) / Math.max(seconds, 0.001))}/s)`
  return [
    dry_run
      ? `dry run, nothing is written: ${written} of ${lines} records can be imported into ${namespace} ${rate}`
      : `${written} of ${lines} records are in ${namespace}: ${result.new} new, ${result.replaced} replaced${result.unchanged === null ? '' : `, ${result.unchanged} unchanged`} ${rate}`,
    ...recordDeletionTexts(result),
    ...(resumedFrom > 0 ? [`${resumedFrom} of them were imported before`] : []),
    ...(rejected > 0
      ? [
          `${rejected} ${rejected === 1 ? 'was' : 'were'} rejected${rejectsPath === null ? (dry_run ? '; name a file with --rejects to list them' : '') : `: ${rejectsPath} says why`}`,
        ]
      : []),
    ...csvReadingText(result.read_as),
    ...importReportText(report, undecided),
    ...(finished ? [] : [`Interrupted; the records counted here are stored. ${resumeAdvice(file)}`]),
  ].join('\n')
}

function recordDeletionTexts({ removal, dry_run }: Awaited<ReturnType<typeof importRecords>>): readonly string[] {
  if (removal === null) return []
  const { before, absent, removed, refusal } = removal
  if (refusal !== null) return [refusal]
  const absentees = `${absent} of ${before} records that were there are not in the file`
  return [dry_run ? `${absentees}: they would be deleted` : `${absentees}: ${removed} are deleted`]
}

const resumeAdvice = (file: string): string =>
  file === '-'
    ? 'Standard input cannot be resumed: send all of it again. No record will be stored twice.'
    : 'Run the same command again to resume.'
