/** Records are found through the port, and how long it took is reported to the operator. */

import { isLookUp, type RecordQuery, type RecordReader, SearchTimeout } from '@rollcall/core/model/record-source'
import type { Found } from '@rollcall/core/model/records'
import { ItemRejection, type RecordType } from '@rollcall/protocol'
import type { ItemWork } from './item.ts'

/** The state of the batch, or the newest. */
export const readerOf = ({ parts, exchange, mode, state }: ItemWork): RecordReader =>
  state ?? parts.recordsOf(exchange.registry).reader(mode.name)

/**
 * Finds records, and reports the time that it took to the operator.
 * @throws ItemRejection for a search that takes too long; looking up one identifier never does by its own fault
 */
export async function measuredFind(work: ItemWork, query: RecordQuery): Promise<Found> {
  const { parts, exchange } = work
  const { registry, grant, participant } = exchange
  const started = parts.clock.now()
  const measured = (outcome: 'answered' | 'timeout' | 'failed'): void =>
    parts.metrics.searched(registry.kind.name, outcome, (parts.clock.now() - started) / 1_000)
  try {
    const found = await readerOf(work).find(registry, { ...query, participant: participant.id })
    measured('answered')
    return found
  } catch (error) {
    const isTimeout = error instanceof SearchTimeout
    measured(isTimeout ? 'timeout' : 'failed')
    if (!isTimeout) throw error
    if (isLookUp(query)) throw error.cause
    const asked = grant.kind.record_types.find(({ name }) => name === query.recordType.name)
    throw tookTooLong(asked, parts.limits.search_timeout)
  }
}

/** @param recordType with what may be asked about, and nothing else */
function tookTooLong(recordType: RecordType | undefined, seconds: number): ItemRejection {
  const { attributes = [], compounds = [] } = recordType ?? {}
  const indexed = [...attributes, ...compounds].filter((row) => row.indexed).map(({ name }) => name)
  const narrower = indexed.length === 0 ? 'an identifier' : `an identifier or one of ${indexed.join(', ')}`
  return new ItemRejection(
    'rjct.search_criteria.invalid',
    `search_criteria.query: took longer than ${seconds} seconds; narrow it by ${narrower}`,
  )
}
