/** `rollcall record`: single records of a registry. */
import { identifierValue, type RecordType, resolveIdentifierType } from '@rollcall/protocol'
import {
  type Database,
  deleteRecords,
  inTransaction,
  type Registry,
  recordTypeOf,
  registryAt,
} from '@rollcall/server'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { readInput } from '../input.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

/** Identifiers of one transaction. */
const BATCH = 1_000

export function addCommand(program: Command): void {
  const record = program.command('record').description('delete single records of a registry')
  withJson(record.command('delete'))
    .description(
      'delete records; the primary identifier and the time of each deletion are kept, as a tombstone',
    )
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

async function runDelete(
  namespace: string,
  type: string,
  words: readonly string[],
  options: DeleteOptions,
): Promise<void> {
  const { signal } = stopRequest()
  const named = [...words, ...(await identifiersOf(options.file))]
  if (named.length === 0) throw new CommandError('name the records: by identifiers, or with --file')
  const { asked, deleted } = await withDatabase(async ({ db }) => {
    const registry = await registryAt(db, namespace)
    const recordType = recordTypeOf(registry, type)
    const identifiers = primaryIdentifiers(registry, recordType, named)
    const gone = await deleteBatches(db, registry, recordType, identifiers, signal)
    return { asked: identifiers.length, deleted: gone }
  })
  const missing = asked === deleted ? '' : `; ${asked - deleted} were not there`
  print(
    options,
    { namespace, record_type: type, asked, deleted },
    `${deleted} of ${asked} records are deleted from ${namespace}${missing}`,
  )
}

async function identifiersOf(file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return []
  const text = await readInput(file)
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** As records are known by them, each once. No message names one: it is a person's. */
function primaryIdentifiers(
  { kind }: Registry,
  { primary_identifier }: RecordType,
  named: readonly string[],
): readonly string[] {
  const type = resolveIdentifierType(kind, primary_identifier)
  const values = named.map((name, at) => {
    const value = type === undefined ? null : identifierValue(type, name)
    if (value !== null) return value
    throw new CommandError(
      `nothing is deleted: identifier number ${at + 1} is not a valid ${primary_identifier}`,
    )
  })
  return [...new Set(values)]
}

/** A transaction for each batch: of those that are deleted each has its tombstone, whatever happens. */
async function deleteBatches(
  db: Database,
  registry: Registry,
  recordType: RecordType,
  identifiers: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const client = await db.pool.connect()
  let deleted = 0
  try {
    for (let at = 0; at < identifiers.length; at += BATCH) {
      if (signal.aborted) {
        throw new CommandError(`interrupted: ${deleted} are deleted; the same command deletes the rest`)
      }
      const batch = identifiers.slice(at, at + BATCH)
      deleted += await inTransaction(client, () => deleteRecords(client, registry, recordType, batch))
    }
  } finally {
    client.release()
  }
  return deleted
}
