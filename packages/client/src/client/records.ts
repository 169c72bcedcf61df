/** Types of the records in answers, by the kind of the registry. */
import {
  KINDS,
  type RecordsByKind,
  type SearchCriteria,
  type SearchData,
  type SearchResponse,
  type SearchResponseItem,
} from '@rollcall/protocol'
import type { Received } from '../receiver/callbacks.ts'
import type { Messages, OperationName } from './messages.ts'

/** A record as the registry sends it: an open JSON-LD object (N5). */
export type RegistryRecord = Record<string, unknown>

/** The name of a kind: civil, ibr, ess, social, disability or farmer. */
export type KindName = keyof RecordsByKind

/** Checks the name of a kind. @throws TypeError there is no such kind */
export function checkKind(name: string): KindName {
  if (KINDS.some((kind) => kind.name === name)) return name as KindName
  throw new TypeError(`kind must be one of ${KINDS.map(({ name }) => name).join(', ')}`)
}

/** The kind of the client's registry: a KindName, or any string when the kind is unknown. Records are then RegistryRecords. */
export type SaidKind = string

/** A record of any record type of the kind. */
export type RecordOf<Kind extends SaidKind> = Kind extends KindName
  ? RecordsByKind[Kind][keyof RecordsByKind[Kind]]
  : RegistryRecord

/** A record of the type that `reg_record_type` in the criteria names; without it, of any type of the kind. */
export type AskedRecord<Kind extends SaidKind, Criteria extends SearchCriteria> = Kind extends KindName
  ? Criteria extends { readonly reg_record_type: infer Type extends keyof RecordsByKind[Kind] }
    ? RecordsByKind[Kind][Type]
    : RecordOf<Kind>
  : RegistryRecord

/** The message of an answer to a search. `Held` is the type of the records in the answer. */
export type Found<Held> = Omit<SearchResponse, 'search_response'> & {
  search_response: (Omit<SearchResponseItem, 'data'> & { data?: Omit<SearchData, 'reg_records'> & { reg_records: Held[] } })[]
}

/** A callback with found records of the type `Held`. */
export type FoundByCallback<Held> = Omit<Received<'on-search'>, 'message'> & { readonly message: Found<Held> }

/** The response to an operation, from a registry of this kind. */
export type ResponseOf<Name extends OperationName, Kind extends SaidKind> = Messages[Name]['response'] extends SearchResponse
  ? Found<RecordOf<Kind>>
  : Messages[Name]['response']
