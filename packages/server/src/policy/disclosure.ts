/**
 * The only place that releases records: in synchronous and asynchronous answers, on every page, in the answer to a
 * question about an earlier request, and in notifications. A reply takes records as `Disclosed` alone, and only this
 * file makes those.
 */
import type { RecordType } from '@rollcall/protocol'
import { Disclosed } from '../model/outcome.ts'
import type { Participant } from '../model/participant.ts'

class DisclosedRecord extends Disclosed {}

/**
 * What of these records the participant may see; at the moment, all of it. One after the other, so that
 * a caller can stop where an answer becomes too large.
 * @param documents canonical JSON texts of records of one type
 * @param select cuts what may be seen to what a query chose of it; null: nothing of that record
 */
export function* disclose(
  _participant: Participant,
  _recordType: RecordType,
  documents: Iterable<string>,
  select: (document: string) => string | null = (document) => document,
): Generator<Disclosed, void, void> {
  for (const document of documents) {
    const selected = select(document)
    if (selected !== null) yield new DisclosedRecord(selected)
  }
}

/**
 * The parts of a record that a question is about, each as a record of its own.
 * @param partsOf canonical JSON texts, cut from what may be seen of the record
 */
export function* discloseParts(
  participant: Participant,
  recordType: RecordType,
  document: string,
  partsOf: (document: string) => readonly string[],
): Generator<Disclosed, void, void> {
  for (const { text } of disclose(participant, recordType, [document])) {
    for (const part of partsOf(text)) yield new DisclosedRecord(part)
  }
}
