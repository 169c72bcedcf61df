/** Checks a source file, and the database that it names. */

import type { Registry } from '@rollcall/core/model/registry'
import { KINDS, type Kind } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { checkSource as check, type SourceFindings } from '@rollcall/source/check-source'
import { SourceRefusal } from '@rollcall/source/engine/source-refusal'
import { openEngine } from '@rollcall/source/engines'
import { readSourceFile } from '@rollcall/source/source-file'
import Type from 'typebox'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, Namespace, orNull, RecordTypeName, text, wholeNumber } from '../members.ts'
import { ImportReport } from '../records/import-reports.ts'
import { requireKind } from './mapping-proposal.ts'

export { SourceFileSchema } from '@rollcall/source/file-schema'

export interface SourceDeps extends HasDatabase {
  /** Environment variables. A source file may name the one that has its database's address (default: those of the process). */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** The kind that a new registry will have after all steps of a configuration file; absent: no file adds the registry. */
  readonly kind?: Kind | undefined
}

const SourceFindingSentences = (description: string) => Type.Array(Type.String(), { description })

const SOURCE_CHECK_RESULT = closed({
  database: text('What the database says of itself.'),
  writes: SourceFindingSentences('What its account may do beyond reading.'),
  weak: SourceFindingSentences('What is weak, and does not stop the source.'),
  records: Type.Array(
    closed({
      record_type: RecordTypeName,
      rows: wholeNumber('Rows that were read: the first ones by their keys.'),
      left_out: wholeNumber('Of those, the rows that are in no answer: an import would reject them.'),
      report: ImportReport,
      unfound: Type.Array(
        closed({
          name: text('Identifier type or attribute.'),
          column: text('Its column.'),
          count: wholeNumber('Values that are not written as they compare: no question finds them.'),
        }),
      ),
      slow: Type.Array(
        closed({
          name: text('What is asked for.'),
          table: text('The table that is read as a whole.'),
          index: orNull(text('The statement that makes the missing index; null: none would help.')),
        }),
      ),
    }),
  ),
})

/** Connects to the database of a source, reads a sample of its rows, and asks for query plans. Nothing is stored. */
export const checkSource = defineAdminFunction(
  {
    input: closed({
      of: text(`Namespace of a registry, or a kind: ${KINDS.map(({ name }) => name).join(', ')}.`),
      source: Type.Unknown({ description: 'What the source file holds, as JSON.' }),
      allow_writer: Type.Optional(flag('Its account may write: for a trial, and never for people.')),
    }),
    result: SOURCE_CHECK_RESULT,
  },
  async (deps: SourceDeps, { of, source, allow_writer }) => {
    return sourceCheckFacts(await checkSourceFile(deps, await requireKind(deps.db, of), source, allow_writer))
  },
)

/**
 * Checks the source of a registry, with the environment of this process. It reports what the database account may write. An
 * account that may write is not refused.
 */
export const checkRegistrySource = defineAdminFunction(
  { input: closed({ namespace: Namespace }), result: SOURCE_CHECK_RESULT },
  async (deps: SourceDeps, { namespace }) => {
    const { kind, source } = await requireRegistry(deps.db, namespace)
    if (source === null) throw new AdminRefusal(`the records of ${namespace} are in our own tables: there is no source`)
    return sourceCheckFacts(await checkSourceFile(deps, kind, source, true))
  },
)

const sourceCheckFacts = ({ about: database, writes, weak, records }: SourceFindings) => ({
  database,
  writes,
  weak,
  records: records.map(recordFacts),
})

/**
 * Checks the parsed content of a source file, connects to its database, and returns what can be read there.
 * @throws AdminRefusal the file or the database cannot be read, or the account may write and `allowWriter` is false
 */
export async function checkSourceFile(
  { env = process.env }: SourceDeps,
  kind: Kind,
  source: unknown,
  allowWriter = false,
): Promise<SourceFindings> {
  const checked = await convertSourceRefusals(async () => {
    const file = readSourceFile(source, kind)
    const engine = openEngine(file, env)
    try {
      return await check(kind, file, engine)
    } finally {
      await engine.close()
    }
  })
  if (!allowWriter) checkSourceAccountReadsOnly(checked)
  return checked
}

/** Turns a refusal of the source file into an AdminRefusal at the member `source` of the input. */
export async function convertSourceRefusals<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SourceRefusal)) throw error
    throw new AdminRefusal(error.message, { at: ['source', ...error.at], cause: error })
  }
}

/** Checks that a kind has all that the source of a registry maps. @throws AdminRefusal */
export function checkSourceFitsKind({ namespace, source }: Pick<Registry, 'namespace' | 'source'>, kind: Kind): void {
  const cause = source === null ? null : findSourceFault(source, kind)
  if (cause === null) return
  const message = `the source of ${namespace} would not fit (${cause.message}); change it first`
  throw new AdminRefusal(message, { reason: 'conflict', cause })
}

/** Finds the first fault of a source file, such as a path that the kind does not have; null when there is none. */
export function findSourceFault(source: object, kind: Kind): SourceRefusal | null {
  try {
    readSourceFile(source, kind)
    return null
  } catch (error) {
    if (error instanceof SourceRefusal) return error
    throw error
  }
}

/** Refuses a source whose account may write. @throws AdminRefusal */
export function checkSourceAccountReadsOnly({ writes }: Pick<SourceFindings, 'writes'>): void {
  if (writes.length === 0) return
  throw new AdminRefusal(
    `the account of the source may do more than read: ${writes.join('; ')}. Give it an account that may only read, or say --allow-writer for a trial`,
  )
}

const recordFacts = ({ recordType, rows, leftOut, report, unfound, slow }: SourceFindings['records'][number]) => ({
  record_type: recordType,
  rows,
  left_out: leftOut,
  report,
  unfound,
  slow,
})
