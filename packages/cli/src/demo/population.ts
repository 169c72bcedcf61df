/** The people of the demo: the same in all its registries. */
import { Readable } from 'node:stream'
import { type Database, hasRecords, importFile, type Registry } from '@rollcall/server'
import { generateLines } from '@rollcall/synthetic'

/** Documents of each registry. */
export const DEMO_RECORDS = 2_000
const SEED = 'demo'

/** Lines that are handed over at once. */
const PIECE = 200

/**
 * Fills the registries that are empty, all at the same time. A registry is filled in one transaction: one whose
 * filling was cut short is empty, and filled at the next start.
 * @returns the namespaces that were filled
 */
export async function fillEmptyRegistries(db: Database, registries: readonly Registry[]): Promise<string[]> {
  const filled = await Promise.all(
    registries.map(async (registry) => {
      if (await hasRecords(db, registry)) return []
      await fill(db, registry)
      return [registry.namespace]
    }),
  )
  return filled.flat()
}

async function fill(db: Database, registry: Registry): Promise<void> {
  const source = Readable.from(pieces(generateLines(registry.kind.name, { count: DEMO_RECORDS, seed: SEED })))
  const { written } = await importFile(db, registry, source, { format: 'ndjson', batchEntries: DEMO_RECORDS })
  if (written !== DEMO_RECORDS) throw new Error(`only ${written} records went into ${registry.namespace}`)
}

function* pieces(lines: Iterable<string>): Generator<string> {
  let piece: string[] = []
  for (const line of lines) {
    piece.push(line)
    if (piece.length < PIECE) continue
    yield `${piece.join('\n')}\n`
    piece = []
  }
  if (piece.length > 0) yield `${piece.join('\n')}\n`
}
