/**
 * Acts that are also written to the journal, a file outside of the database, because a restore from a backup must not undo them.
 * An act uses names that a backup has too: sender_ids, namespaces, kids. It may have personal data, so lines are encrypted.
 */
import type { PublicKey } from '@rollcall/protocol'
import type { AllowedHost } from './allowed-hosts.ts'
import type { MessagePolicy } from './participant.ts'
import type { ProtectionCategory } from './protection.ts'

export type JournalAct =
  /** The keys that encrypted the bodies of messages of these days ('YYYY-MM-DD') were destroyed. */
  | { readonly kind: 'day_keys_destroyed'; readonly days: readonly string[] }
  /** A person was erased everywhere except in records. */
  | {
      readonly kind: 'person_erased'
      /** The pseudonyms of the person, in hexadecimal. */
      readonly pseudonyms: readonly string[]
      readonly reason: string
      /** The numbers of the holds in force at the erasure. A restore removes all older holds but these, and then erases again. */
      readonly holds: readonly number[]
      /** The records of the person. Waiting notifications about them were dropped, and the documents of their events deleted. */
      readonly records: readonly { readonly registry: string; readonly record_type: string; readonly record: string }[]
      /** The primary identifiers of the person. What was stored about their deleted records was deleted too. */
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
      /** The primary identifiers of the deleted records. */
      readonly identifiers: readonly string[]
      /** True when no event was recorded for the deletion. A restore then deletes the records again without an event. */
      readonly silent?: true
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
      /** The pseudonyms of the person, in hexadecimal. */
      readonly pseudonyms: readonly string[]
      readonly purpose: string
      /** The sender_id of the participant; null for all participants. */
      readonly participant: string | null
    }
  | { readonly kind: 'authority_removed'; readonly authority: string }
  /** The grants with these ids were revoked; null: all grants of the participant in the registry. */
  | {
      readonly kind: 'grants_revoked'
      readonly participant: string
      readonly registry: string
      readonly grants: readonly number[] | null
    }
  | { readonly kind: 'participant_disabled'; readonly participant: string }
  | {
      readonly kind: 'participant_key_revoked'
      /** The sender_id of the participant. */
      readonly participant: string
      readonly kid: string
      /** The key, so that it is refused even when the backup does not have it. Lines of earlier versions lack it. */
      readonly key?: PublicKey
    }
  /**
   * A participant got a new client secret. The older secrets with these SHA-256 digests (hexadecimal) are no longer valid. The
   * secret that the new one replaced may still be valid, so it is not listed.
   */
  | { readonly kind: 'secrets_retired'; readonly participant: string; readonly secrets: readonly string[] }
  /** A sandbox participant became live. Everything that it had in the sandbox has ended. */
  | {
      readonly kind: 'participant_promoted'
      readonly participant: string
      /** The public keys for live use that were given at the promotion. May be empty when `jwks_uri` is set. */
      readonly keys: readonly PublicKey[]
      /** The public keys that the participant had published for the sandbox. */
      readonly former: readonly PublicKey[]
      readonly jwks_uri: string | null
      /** The SHA-256 digest of the participant's client secret for live use, in hexadecimal. */
      readonly secret: string
    }
  /**
   * The message policy of a participant became stricter, or got another signature profile, another `jwks_uri` or fewer hosts. The
   * other changes of the policy are absent.
   */
  | {
      readonly kind: 'policy_tightened'
      readonly participant: string
      /** The new values. When `jwks_uri` is new or null, keys from the former address are no longer trusted. */
      readonly policy: Partial<Omit<MessagePolicy, 'outgoing'>>
      /**
       * The rows of `MessagePolicy.outgoing` that are no longer allowed: removed rows, and changed rows as they were before.
       */
      readonly hosts: readonly AllowedHost[]
    }
  /** A consent authority is trusted less, or may do less than before. */
  | {
      readonly kind: 'authority_tightened'
      readonly authority: string
      /** The thumbprints of the authority's keys that are no longer trusted. */
      readonly thumbprints: readonly string[]
      /**
       * The new address, or null when the address was removed. Undefined when the address did not change, or is the authority's
       * first address.
       */
      readonly jwks_uri?: string | null
      /** The hosts to which our requests for the authority may no longer go. */
      readonly hosts: readonly AllowedHost[]
    }
  | { readonly kind: 'operator_revoked'; readonly name: string }
  | { readonly kind: 'own_key_revoked'; readonly kid: string }
  /** A registry (`name`: its namespace) or participant (its sender_id) was removed. Its audit entries stay. */
  | { readonly kind: 'removed'; readonly removable: 'registry' | 'participant'; readonly name: string }

export type JournalKind = JournalAct['kind']

export interface Journal {
  /** The path of the journal file; null when there is no journal, and nothing is written. */
  readonly path: string | null
  /** Checks that the journal file can be opened, and creates a missing one. @throws StoreUnavailable it cannot be opened */
  examine(): Promise<void>
  /**
   * Writes the act as a line of the file, commits the act in the database, and then closes the line: notes in the database that
   * the act is committed. A restore also applies lines that are not closed.
   * @param commit does and commits the act; it is not called when the line cannot be written
   * @param close closes the line with this number. An act that is a part of a larger transaction closes its line in that
   * transaction (default: the line is closed after `commit`, in a transaction of its own)
   */
  write<Result>(act: JournalAct, commit: () => Promise<Result>, close?: (line: number) => Promise<void>): Promise<Result>
}

/** The journal when no file is configured: `write` only commits the act. */
export const NO_JOURNAL: Journal = { path: null, examine: () => Promise.resolve(), write: (_, commit) => commit() }
