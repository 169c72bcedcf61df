/** Questions about the persons of a source. */

import type { Predicate } from '@rollcall/core/model/predicate'
import { NOBODY_PROTECTED } from '@rollcall/core/model/protection'
import type { RecordSource } from '@rollcall/core/model/record-source'
import { type Kind, kindNamed } from '@rollcall/protocol'
import type { OpenEngine } from '../src/engine/engine.ts'
import type { SourceFile } from '../src/engine/mapped-records.ts'
import { openEngine } from '../src/engines.ts'
import { createLiveRecordAccess } from '../src/live-records.ts'
import { readSourceFile } from '../src/source-file.ts'

export const kind = kindNamed('civil') as Kind
export const [recordType] = kind.record_types
export const registry = { id: 1, kind }

/** Opens a source for some work, and closes it. @param given the source file, whose address is in `OFFICE` */
export async function asking<Result>(
  given: object,
  address: string,
  work: (source: RecordSource, engine: OpenEngine, file: SourceFile) => Promise<Result>,
): Promise<Result> {
  const file = readSourceFile(JSON.parse(JSON.stringify(given)), kind)
  const engine = openEngine(file, { OFFICE: address })
  try {
    return await work(createLiveRecordAccess(kind, file, engine, async () => NOBODY_PROTECTED).source, engine, file)
  } finally {
    await engine.close()
  }
}

/** The predicate of persons who have one of these identifiers. */
export const bearer = (type: string, ...values: readonly string[]): Predicate => ({
  is: 'identifier',
  identifiers: values.map((value) => ({ type, value })),
})

const page = { sort: [], limit: 10, offset: 0, cap: 10 }

export const total = async (source: RecordSource, predicate: Predicate): Promise<number> =>
  (await source.reader('sync').find(registry, { recordType, predicate, page })).total

/** Every record, in the order of the keys. */
export async function documents(source: RecordSource): Promise<readonly unknown[]> {
  const all = { recordType, predicate: null, since: null, after: null, limit: 100 }
  return (await source.reader('sync').page(registry, all)).map(({ document }) => JSON.parse(document))
}

/** The predicate that compares an attribute with a value. */
export function compared(name: string, value: unknown, operator: 'eq' | 'ge' | 'le' | 'starts_with' = 'eq'): Predicate {
  const attribute = recordType.attributes.find((one) => one.name === name)
  if (attribute === undefined) throw new Error(`no attribute ${name}`)
  return { is: 'compare', attribute, operator, value } as Predicate
}
