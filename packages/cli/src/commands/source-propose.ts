/** `rollcall source propose`: proposes a source file from the catalog of a database, to be reviewed. */
import { proposeSource } from '@rollcall/admin/registries/source-proposal'
import type { Command } from 'commander'
import { callWithDatabase } from '../environment.ts'
import { writeNewFile } from '../new-file.ts'
import { countWithNoun, type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { collectOption, readNameValuePairs } from '../values.ts'

export function defineCommand(command: Command): void {
  withJsonOption(command)
    .argument('<of>', 'namespace of a registry, or a kind')
    .requiredOption('--engine <engine>', 'the engine of the database: postgresql, mariadb or mysql')
    .option('--url-env <variable>', 'the environment variable with the address of the database')
    .option('--url-file <file>', 'the absolute path of the file with the address of the database')
    .option(
      '--table <table...>',
      'the table with the records, such as office.person, or Group=office.household (default: found by its columns)',
      collectOption,
    )
    .option('--allow-writer', 'accept an account that may write: for a trial alone')
    .option('--out <file>', 'file to write (default: standard output)')
    .addHelpText(
      'after',
      `
The catalog says which tables, columns and keys there are, and at most 1,000 rows are read of each table that may have
records. The proposal is a file for rollcall source check, with a comment on every line: why it is proposed. What could mean
two things is never guessed: it stands for "?", which source check refuses with its line until it is decided. The proposal has
names of tables and columns, and short codes, and no other value.

Example: rollcall source propose civil --engine postgresql --url-env CIVIL_DB --out civil.yaml`,
    )
    .action(runPropose)
}

interface ProposeOptions extends OutputOptions {
  readonly engine: string
  readonly urlEnv?: string
  readonly urlFile?: string
  readonly table?: readonly string[]
  readonly allowWriter?: true
  readonly out?: string
}

async function runPropose(of: string, options: ProposeOptions): Promise<void> {
  listenForStop()
  const { engine, urlEnv: url_env, urlFile: url_file, table, allowWriter: allow_writer, out } = options
  // `--table office.person` gets the name '' (the first record type), `--table Group=office.household` the name Group.
  const tables = readNameValuePairs(table ?? [], '')
  const input = { of, engine, url_env, url_file, tables, allow_writer }
  const proposal = await callWithDatabase(proposeSource, input)
  if (out === undefined) return printResult(options, proposal, proposal.file.trimEnd())
  await writeNewFile(out, proposal.file)
  const { columns, decide } = proposal
  const summary = `${countWithNoun(columns, 'column is', 'columns are')} proposed, and ${countWithNoun(decide.length, 'line')} must be decided; review ${out}`
  printResult(options, { ...proposal, out }, [summary, ...decide.map((one) => `decide: ${one}`)].join('\n'))
}
