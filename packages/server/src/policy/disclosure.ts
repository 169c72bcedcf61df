/**
 * The one way by which records leave: answered at once or later, on whichever page, and embedded in the answer to a
 * question about an earlier request. Nothing else may put a record into a message.
 */
import type { RecordType } from '@rollcall/protocol'
import type { Exchange } from '../model/exchange.ts'

/**
 * What of these records the participant of the exchange may see; at the moment, all of it.
 * @param documents canonical JSON texts of records of one type, whole or cut to what a query chose
 */
export function disclose(
  _exchange: Exchange,
  _recordType: RecordType,
  documents: readonly string[],
): readonly string[] {
  return documents
}
