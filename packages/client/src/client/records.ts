/** The kind of a registry, and the types of the records in its answers. */
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

/** A record as the registry holds it: an open JSON-LD object (N5). */
export type RegistryRecord = Record<string, unknown>

/** civil, ibr, ess, social, disability or farmer. */
export type KindName = keyof RecordsByKind

/** @throws TypeError for a name that is none */
export function checkKind(name: string): KindName {
  if (KINDS.some((kind) => kind.name === name)) return name as KindName
  throw new TypeError(`kind must be one of ${KINDS.map(({ name }) => name).join(', ')}`)
}

/** The kind of the client's registry; `string` when unknown: records are RegistryRecord then. */
export type SaidKind = string

/** A record of any type of the kind. */
export type RecordOf<Kind extends SaidKind> = Kind extends KindName
  ? RecordsByKind[Kind][keyof RecordsByKind[Kind]]
  : RegistryRecord

/** The type of record that `reg_record_type` of the criteria names; without it, any type of the kind. */
export type AskedRecord<Kind extends SaidKind, Criteria extends SearchCriteria> = Kind extends KindName
  ? Criteria extends { readonly reg_record_type: infer Type extends keyof RecordsByKind[Kind] }
    ? RecordsByKind[Kind][Type]
    : RecordOf<Kind>
  : RegistryRecord

/** The answer to a search, with records of this type. */
export type Found<Held> = Omit<SearchResponse, 'search_response'> & {
  search_response: (Omit<SearchResponseItem, 'data'> & {
    data?: Omit<SearchData, 'reg_records'> & { reg_records: Held[] }
  })[]
}

/** Found records in a callback. */
export type FoundByCallback<Held> = Omit<Received<'on-search'>, 'message'> & { readonly message: Found<Held> }

/** The response of a registry of this kind to an operation. */
export type ResponseOf<
  Name extends OperationName,
  Kind extends SaidKind,
> = Messages[Name]['response'] extends SearchResponse ? Found<RecordOf<Kind>> : Messages[Name]['response']
