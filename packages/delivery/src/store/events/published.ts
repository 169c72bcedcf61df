/** Finds publications by event_id, and stores the versions that publishing systems give to records. */

import type { RecordId } from '@rollcall/core/model/records'
import { recordIdSql } from '@rollcall/database/record-ids'
import { isTextStorable } from '@rollcall/database/text'
import type { ClientBase } from 'pg'

/**
 * Takes an advisory lock on a name in one registry until the transaction ends: the same event or record is published by
 * one transaction at a time. The name says which event_id or which primary identifier is locked.
 */
export async function lockPublication(client: ClientBase, registryId: number, name: string): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(hashtextextended($2, hashtext('rollcall published') # $1))`, [
    registryId,
    name,
  ])
}

/** An event that was published under an event_id. */
export interface EventFoundByEventId {
  readonly id: number
  readonly event_type: string
  readonly record_type: string
  readonly record: RecordId
  readonly fingerprint: Buffer | null
  readonly matched: number
}

/** Finds the event that was published under an event_id; null when there is none. */
export async function findEvent(client: ClientBase, registryId: number, event_id: string): Promise<EventFoundByEventId | null> {
  const { rows } = await client.query<EventFoundByEventId>(
    `select id, event_type, record_type, ${recordIdSql('event')} as record, fingerprint, matched from event
     where registry = $1 and event_id = $2`,
    [registryId, event_id],
  )
  return rows[0] ?? null
}

/** The version that the publishing system gives to a record. */
export interface PublishedRecordVersion {
  readonly record_type: string
  readonly primary_identifier: string
  readonly source_version: number
}

/** Stores the version that the publishing system gives to a record. Returns false when a newer version is stored already. */
export async function storeRecordSourceVersion(
  client: ClientBase,
  registryId: number,
  { record_type, primary_identifier, source_version }: PublishedRecordVersion,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `insert into record_source_version as known (registry, record_type, primary_identifier, source_version)
     values ($1, $2, $3, $4)
     on conflict (registry, record_type, primary_identifier)
       do update set source_version = excluded.source_version
       where known.source_version <= excluded.source_version`,
    [registryId, record_type, primary_identifier, source_version],
  )
  return rowCount === 1
}

/** Deletes the versions of deleted records: a record that is written again later is a new one. */
export async function forgetRecordSourceVersions(
  client: ClientBase,
  registryId: number,
  record_type: string,
  primaryIdentifiers: readonly string[],
): Promise<void> {
  await client.query(
    'delete from record_source_version where registry = $1 and record_type = $2 and primary_identifier = any($3)',
    [registryId, record_type, primaryIdentifiers.filter(isTextStorable)],
  )
}
