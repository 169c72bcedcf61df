/** `rollcall enrol`: sends the enrolments of a file to a beneficiary registry. */

import { openRecordFile } from '@rollcall/admin/records/records'
import { RegistryClient } from '@rollcall/client'
import type { Command } from 'commander'
import { type EnrolledRowCounts, enrolRows, NO_ROWS_ENROLLED } from '../asking/enrolling.ts'
import { callClient, makeClient } from '../asking/failures.ts'
import { addRegistryOptions, type RegistryOptions } from '../asking/registry-options.ts'
import { readRegistryTarget } from '../asking/target.ts'
import { CommandError, EXIT_CODES } from '../failure.ts'
import { takeStandardInput } from '../input.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { reportImportProgress } from '../progress.ts'
import { addRecordFileOptions, type RecordFileOptions, readRecordFileOptions } from '../record-file-options.ts'
import { listenForStop } from '../stop.ts'

export function addCommand(program: Command): void {
  const command = program
    .command('enrol')
    .description('send the enrolments of a file to a beneficiary registry')
    .usage('[options] [namespace] <file>')
    .argument(
      '<words...>',
      'a registry of the demo on this machine (or --url), and the file: NDJSON, a JSON array or CSV; - for standard input',
    )
    .option('--receipt-type <type>', 'what the file tells, such as enrollement or enrollement_status_change')
  addRecordFileOptions(command, 'member.member_identifier')
  withJsonOption(addRegistryOptions(command))
    .addHelpText(
      'after',
      `
Each line is a Beneficiary: docs/enrolment.md says which members count. They are sent in messages of 100, one after the
other; a rejected line does not stop the others. Run the same command again after an interruption or an error: what was
written is not written twice. The new messages are later than what others sent meanwhile: where others corrected the same
members after the first run, the second run overwrites their corrections. The other options are those of rollcall search.

Exit codes: 0 all lines were taken, 3 some lines were rejected, 4 interrupted, 1 failed.

Example: rollcall enrol ibr enrolments.ndjson
Example: rollcall enrol ibr enrolments.csv --map enrolment-columns.json --receipt-type enrollement`,
    )
    .action(runEnrol)
}

interface EnrolOptions extends RegistryOptions, RecordFileOptions, OutputOptions {
  readonly receiptType?: string
}

async function runEnrol(words: readonly string[], options: EnrolOptions): Promise<void> {
  const { signal } = listenForStop()
  const { namespace, file } = readEnrolArguments(words, options)
  const { rejects: rejectsPath, receiptType: receipt_type } = options
  const read = await readRecordFileOptions(options)
  const { client } = await readRegistryTarget({ ...options, ...(namespace !== undefined && { registry: namespace }) })
  const asking = makeClient(() => new RegistryClient(client))
  const source = await openRecordFile(file === '-' ? takeStandardInput() : file, {
    ...read,
    ...(rejectsPath !== undefined && { rejectsPath }),
  })
  const progress = reportImportProgress()
  let done = NO_ROWS_ENROLLED
  const receipt = receipt_type === undefined ? {} : { receipt_type }
  try {
    const sending = {
      // Ctrl-C does not stop a message under way, so that its lines are known as accepted or rejected.
      send: (list: Parameters<RegistryClient['updateEnrolments']>[0]) => callClient(asking.updateEnrolments(list, receipt)),
      reject: source.reject,
    }
    for await (const state of enrolRows(source.rows(), sending)) {
      done = state
      progress.update({ ...state, totalBytes: source.totalBytes })
      if (signal.aborted) break
    }
  } catch (error) {
    progress.stop()
    if (!(error instanceof CommandError) || done.lines === 0) throw error
    throw new CommandError(`${error.message}; ${done.lines} lines were answered before. ${RUN_AGAIN_ADVICE}`)
  } finally {
    progress.stop()
    await source.close()
  }
  reportEnrolment(options, { file, done, finished: !signal.aborted, rejectsPath: source.rejectsPath })
}

const RUN_AGAIN_ADVICE = 'Run the same command again: what was written is not written twice.'

/** Reads the registry and the file from the arguments. @throws CommandError */
function readEnrolArguments(
  words: readonly string[],
  { url, registry }: RegistryOptions,
): { readonly namespace: string | undefined; readonly file: string } {
  const isNamed = url !== undefined || registry !== undefined
  const [first = '', second] = words
  if (isNamed && words.length === 1) return { namespace: undefined, file: first }
  if (!isNamed && second !== undefined && words.length === 2) return { namespace: first, file: second }
  throw new CommandError('name a registry and one file, such as: rollcall enrol ibr enrolments.ndjson; with --url the file alone')
}

interface EnrolResult {
  readonly file: string
  readonly done: EnrolledRowCounts
  readonly finished: boolean
  readonly rejectsPath: string | null
}

function reportEnrolment(options: OutputOptions, { file, done, finished, rejectsPath }: EnrolResult): void {
  const { lines, taken, rejected } = done
  const rejects_file = rejected > 0 ? rejectsPath : null
  const texts = [
    `${taken} of ${lines} lines were taken`,
    ...(rejected > 0
      ? [`${rejected} rejected: ${rejects_file === null ? 'name a file with --rejects to see why' : `${rejects_file} says why`}`]
      : []),
    ...(finished ? [] : [`Interrupted. ${RUN_AGAIN_ADVICE}`]),
  ]
  printResult(options, { file, lines, taken, rejected, finished, rejects_file }, texts.join('\n'))
  if (!finished) process.exitCode = EXIT_CODES.interrupted
  else if (rejected > 0) process.exitCode = EXIT_CODES.some_rejected
}
