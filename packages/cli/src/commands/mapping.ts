/** `rollcall mapping propose`: proposes a mapping for the columns of a CSV file, to be reviewed. */
import { writeFile } from 'node:fs/promises'
import { proposeMapping } from '@rollcall/admin/registries/mapping-proposal'
import { systemReason } from '@rollcall/base/shared/system-error'
import type { Command } from 'commander'
import { hasUrlOrEmbeddedDatabase, readConfiguration, withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { takeStandardInput } from '../input.ts'
import { leftOutRowsText, proposedMappingText } from '../mapping-text.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'

export function addCommand(program: Command): void {
  const mapping = program.command('mapping').description('column mappings of files for rollcall import')
  withJsonOption(mapping.command('propose'))
    .description('propose a mapping of the columns of a CSV file, by their names and values, for review')
    .argument('<file>', 'CSV file with a header line; - for standard input')
    .argument('<registry>', 'namespace of a registry, or a kind')
    .option('--record-type <type>', 'record type of the records (default: the first of the kind)')
    .option('--delimiter <character>', 'the character between cells (default: found out)')
    .option('--encoding <name>', 'the encoding of the text (default: found out)')
    .option('--out <file>', 'file to write, with the ending .yaml (default: standard output)')
    .addHelpText(
      'after',
      `
The proposal is a file for rollcall import --map, with a comment on each column: why it is proposed, what nothing is known
of, and what must be decided. What could mean two things, such as 03/04/2001, is never guessed: the choices stand there as
comments, and one of them is to be uncommented. It contains names of columns, and values of short lists of codes alone.

Example: rollcall mapping propose people.csv civil --out columns.yaml`,
    )
    .action(runPropose)
}

interface ProposeOptions extends OutputOptions {
  readonly recordType?: string
  readonly delimiter?: string
  readonly encoding?: string
  readonly out?: string
}

async function runPropose(file: string, of: string, options: ProposeOptions): Promise<void> {
  listenForStop()
  const { recordType: record_type, delimiter, encoding, out } = options
  const source = file === '-' ? takeStandardInput() : file
  const input = { of, record_type, delimiter, encoding }
  // With a database, `of` may be a namespace. Without one, `of` must be the name of a kind.
  const proposal = (await hasUrlOrEmbeddedDatabase(readConfiguration()))
    ? await withDatabase(({ db }) => proposeMapping({ db, source }, input))
    : await proposeMapping({ db: null, source }, input)
  const text = proposedMappingText(file === '-' ? 'standard input' : file, of, proposal)
  if (out === undefined) {
    printResult(options, proposal, text.trimEnd())
    return
  }
  if (!/\.ya?ml$/.test(out)) {
    throw new CommandError(`--out must end in .yaml, because the file has comments: ${out}`)
  }
  try {
    await writeFile(out, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    const reason = isThere ? 'it is there already; name another file, or delete this one' : systemReason(error)
    throw new CommandError(`the file ${out} of --out cannot be written: ${reason}`)
  }
  const count = (state: string): number => proposal.columns.filter((column) => column.state === state).length
  const summary = `${count('mapped')} columns are proposed, ${count('decide')} must be decided, ${count('unmapped')} are not mapped; review ${out}`
  printResult(options, { ...proposal, out }, [summary, ...leftOutRowsText(proposal), ...proposal.lacking].join('\n'))
}
