/**
 * What is also written outside of the database, because a restore from a backup must not undo it. An act names everything
 * by what a backup knows it by: sender_ids, namespaces, kids. It may hold personal data: lines of the journal are encrypted.
 */
import type { PublicKey } from '@rollcall/protocol'
import type { AllowedHost } from './allowed-hosts.ts'
import type { MessagePolicy } from './participant.ts'
import type { ProtectionCategory } from './protection.ts'

export type JournalAct =
  /** Days ('YYYY-MM-DD') whose keys were destroyed. */
  | { readonly kind: 'day_keys_destroyed'; readonly days: readonly string[] }
  /** A person was erased beside the records. */
  | {
      readonly kind: 'person_erased'
      /** In hexadecimal. */
      readonly pseudonyms: readonly string[]
      readonly reason: string
      /** The numbers of the holds that were in force: no other hold keeps rows of the person. */
      readonly holds: readonly number[]
      /** The records of the person: what waited about them was withdrawn. */
      readonly records: readonly { readonly registry: string; readonly record_type: string; readonly record: number }[]
      /** Of deleted records, whose tombstones were forgotten. */
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
      /** Primary identifiers. */
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
      /** sender_id; null: of every participant. */
      readonly participant: string | null
    }
  | { readonly kind: 'authority_removed'; readonly authority: string }
  /** `grants`: ids; null: all. */
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
      /** The key, which is refused also where the backup does not know it. Lines of earlier versions do not have it. */
      readonly key?: PublicKey
    }
  /** The secret was replaced: only this one and the newest before it are live. SHA-256, in hexadecimal. */
  | { readonly kind: 'secrets_retired'; readonly participant: string; readonly secrets: readonly string[] }
  /** A sandbox participant became a live one: all that it had in the sandbox has ended. */
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
  /** Less is trusted of a participant, or less is allowed for it. What was loosened is not named. */
  | {
      readonly kind: 'policy_tightened'
      readonly participant: string
      /** Members as they are now. A new `jwks_uri`, or none (null): keys at the former one count no more. */
      readonly policy: Partial<Omit<MessagePolicy, 'outgoing'>>
      /** Rows of `outgoing` that count no more. */
      readonly hosts: readonly AllowedHost[]
    }
  /** The same of a consent authority. */
  | {
      readonly kind: 'authority_tightened'
      readonly authority: string
      /** Of keys that sign no more. */
      readonly thumbprints: readonly string[]
      /** The address from now on, or none (null); undefined: it is the same. */
      readonly jwks_uri?: string | null
      readonly hosts: readonly AllowedHost[]
    }
  | { readonly kind: 'operator_revoked'; readonly name: string }
  | { readonly kind: 'own_key_revoked'; readonly kid: string }
  /** A registry, by its namespace, or a participant, by its sender_id, was removed with what was stored of it. */
  | { readonly kind: 'removed'; readonly removable: 'registry' | 'participant'; readonly name: string }

export type JournalKind = JournalAct['kind']

export interface Journal {
  /** The file; null: there is none, and nothing is written. */
  readonly path: string | null
  /** Opens the file, which is made if it is not there. @throws StoreUnavailable it cannot be opened */
  examine(): Promise<void>
  /**
   * Writes an act, and then does it: one that is written and not committed does no harm when it is applied. Until the act is
   * committed the line is open: who restores a snapshot of that time applies it, although the snapshot knows the line.
   * @param commit does the act, and commits it; it is not called when the line cannot be written
   */
  write<Result>(act: JournalAct, commit: () => Promise<Result>): Promise<Result>
}

export const NO_JOURNAL: Journal = { path: null, examine: () => Promise.resolve(), write: (_, commit) => commit() }
