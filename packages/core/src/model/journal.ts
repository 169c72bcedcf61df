/**
 * Acts that are also written outside of the database, because a restore from a backup must not undo them. An act uses
 * names that are the same in a backup: sender_ids, namespaces, kids. It may hold personal data, so lines of the journal
 * are encrypted.
 */
import type { PublicKey } from '@rollcall/protocol'
import type { AllowedHost } from './allowed-hosts.ts'
import type { MessagePolicy } from './participant.ts'
import type { ProtectionCategory } from './protection.ts'

export type JournalAct =
  /** Days ('YYYY-MM-DD') whose keys were destroyed. */
  | { readonly kind: 'day_keys_destroyed'; readonly days: readonly string[] }
  /** A person was erased from everything beside the records. */
  | {
      readonly kind: 'person_erased'
      /** In hexadecimal. */
      readonly pseudonyms: readonly string[]
      readonly reason: string
      /** The numbers of the holds that were in force. Only these holds keep rows of the person. */
      readonly holds: readonly number[]
      /** The person's records. The waiting notifications about them were dropped. */
      readonly records: readonly { readonly registry: string; readonly record_type: string; readonly record: string }[]
      /** Deleted records of the person whose tombstones were forgotten. */
      readonly forgotten: readonly {
        readonly registry: string
        readonly record_type: string
        readonly primary_identifier: string
      }[]
    }
  | {
      readonly kind: 'records_deleted'
      readonly registry: string
      readonly record_type: string
      /** Primary identifiers of the deleted records. */
      readonly identifiers: readonly string[]
    }
  | {
      readonly kind: 'person_protected'
      readonly registry: string
      readonly identifier_type: string
      readonly identifier_value: string
      readonly category: ProtectionCategory
      readonly reason: string
    }
  | { readonly kind: 'consents_revoked'; readonly authority: string; readonly jtis: readonly string[] }
  | {
      readonly kind: 'consent_withdrawn'
      /** In hexadecimal. */
      readonly pseudonyms: readonly string[]
      readonly purpose: string
      /** sender_id; null: all participants. */
      readonly participant: string | null
    }
  | { readonly kind: 'authority_removed'; readonly authority: string }
  /** Grants were revoked: those with these ids; null: all. */
  | {
      readonly kind: 'grants_revoked'
      readonly participant: string
      readonly registry: string
      readonly grants: readonly number[] | null
    }
  | { readonly kind: 'participant_disabled'; readonly participant: string }
  | {
      readonly kind: 'participant_key_revoked'
      /** sender_id */
      readonly participant: string
      readonly kid: string
      /**
       * The key itself, so that it is refused even if the backup does not have it. Absent in lines of earlier versions.
       */
      readonly key?: PublicKey
    }
  /** The client secret was replaced: only the new one and the newest before it are valid. SHA-256, in hexadecimal. */
  | { readonly kind: 'secrets_retired'; readonly participant: string; readonly secrets: readonly string[] }
  /** A sandbox participant became a live one: everything it had in the sandbox has ended. */
  | {
      readonly kind: 'participant_promoted'
      readonly participant: string
      /** Its live keys. */
      readonly keys: readonly PublicKey[]
      /** Keys that it had published for the sandbox. */
      readonly former: readonly PublicKey[]
      readonly jwks_uri: string | null
      /** SHA-256 of its live client secret, in hexadecimal. */
      readonly secret: string
    }
  /** A participant is trusted less, or is allowed less. Loosened members are not named. */
  | {
      readonly kind: 'policy_tightened'
      readonly participant: string
      /**
       * The new values of the members. If `jwks_uri` is new or null, keys of the former address are no longer trusted.
       */
      readonly policy: Partial<Omit<MessagePolicy, 'outgoing'>>
      /** Rows of `outgoing` that are no longer allowed. */
      readonly hosts: readonly AllowedHost[]
    }
  /** A consent authority is trusted less, or is allowed less. */
  | {
      readonly kind: 'authority_tightened'
      readonly authority: string
      /** Thumbprints of keys that are no longer trusted. */
      readonly thumbprints: readonly string[]
      /** The new address, or null for none; undefined: unchanged. */
      readonly jwks_uri?: string | null
      readonly hosts: readonly AllowedHost[]
    }
  | { readonly kind: 'operator_revoked'; readonly name: string }
  | { readonly kind: 'own_key_revoked'; readonly kid: string }
  /** A registry (by namespace) or a participant (by sender_id) was removed with everything stored for it. */
  | { readonly kind: 'removed'; readonly removable: 'registry' | 'participant'; readonly name: string }

export type JournalKind = JournalAct['kind']

export interface Journal {
  /** The file; null: there is none, and nothing is written. */
  readonly path: string | null
  /** Opens the file, and creates it if it does not exist. @throws StoreUnavailable it cannot be opened */
  examine(): Promise<void>
  /**
   * Writes an act, and then commits it. An act that was written but not committed does no harm when it is applied. The
   * line stays open until the commit: whoever restores a snapshot of that time applies the act, although the snapshot
   * knows the line.
   * @param commit does and commits the act; it is not called when the line cannot be written
   */
  write<Result>(act: JournalAct, commit: () => Promise<Result>): Promise<Result>
}

export const NO_JOURNAL: Journal = { path: null, examine: () => Promise.resolve(), write: (_, commit) => commit() }
