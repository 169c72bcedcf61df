/** `rollcall generate`: writes synthetic people, as lines that `rollcall import` reads. */
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { systemReason } from '@rollcall/base/shared/system-error'
import { kindNamed } from '@rollcall/protocol'
import { COUNT_LIMIT, generateLines, KIND_GENERATORS } from '@rollcall/synthetic'
import { Argument, type Command } from 'commander'
import { CommandError } from '../failure.ts'
import { type OutputOptions, printResult, withJsonOption, writeOutput } from '../output.ts'
import { wholeNumberReader } from '../values.ts'

/** The least number of characters that are written at once; the last part may be shorter. */
const LEAST_CHUNK_CHARACTERS = 256 * 1024

export function addCommand(program: Command): void {
  withJsonOption(program.command('generate'))
    .description('write synthetic records as NDJSON; the same seed gives the same people in every kind')
    .addArgument(new Argument('<kind>', 'kind of registry').choices(KIND_GENERATORS.map(({ kind }) => kind)))
    .option('--count <records>', 'number of records', wholeNumberReader(0, COUNT_LIMIT), 1_000)
    .option('--seed <seed>', 'seed of the population: a number or a word', '1')
    .option('--primary <type>', 'the identifier type that the registry names with registry add --primary')
    .option('--out <file>', 'file to write (default: standard output); with --json a summary is printed')
    .addHelpText(
      'after',
      `
Example: rollcall generate civil --count 10_000 --seed 7 --out people.ndjson
Example: rollcall generate social --count 500 | rollcall import social - --format ndjson`,
    )
    .action(runGenerate)
}

interface GenerateOptions extends OutputOptions {
  readonly count: number
  readonly seed: string
  readonly primary?: string
  readonly out?: string
}

async function runGenerate(kind: string, options: GenerateOptions): Promise<void> {
  const { count, seed, primary, out } = options
  const own = kindNamed(kind)?.record_types[0].primary_identifier
  const identifier_types = own === undefined || primary === undefined ? {} : { [own]: primary }
  const lines = generateLines(kind, { count, seed, identifier_types })
  if (out === undefined) {
    await writeLines(writeOutput, lines)
    return
  }
  const file = createWriteStream(out)
  // Every write reports its own failure. Without this listener, a failure would end the process.
  file.on('error', () => undefined)
  try {
    await writeLines((chunk) => writeChunk(file, chunk), lines)
    file.end()
    await finished(file)
  } catch (error) {
    throw new CommandError(`the file ${out} cannot be written: ${systemReason(error)}`)
  }
  if (options.json) printResult(options, { kind, count, seed, out }, '')
}

/** Writes one chunk at a time and waits for it; a reader that closes the pipe is no failure. */
async function writeLines(write: (chunk: string) => Promise<void>, lines: Iterable<string>): Promise<void> {
  let chunk = ''
  try {
    for (const line of lines) {
      chunk += `${line}\n`
      if (chunk.length < LEAST_CHUNK_CHARACTERS) continue
      await write(chunk)
      chunk = ''
    }
    await write(chunk)
  } catch (error) {
    if (errorCodeOf(error) !== 'EPIPE') throw error
  }
}

function writeChunk(stream: NodeJS.WritableStream, chunk: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error ? reject(error) : resolve()))
  })
}

const errorCodeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown')
