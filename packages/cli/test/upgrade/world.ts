/** The settings with which the fixtures of the upgrade test were made, and facts about each. */
import { fileURLToPath } from 'node:url'

/** The master key of the fixtures alone: their encrypted values are opened with it. */
export const FIXTURE_MASTER_KEY = Buffer.alloc(32, 'upgrade').toString('base64')

/** Where the participants of the fixtures took their callbacks; who restores one puts another address in its place. */
export const FIXTURE_RECEIVER = 'http://127.0.0.1:47123'

/** Commits that made or changed a migration, the oldest first: each could have made a database that is in use. */
export const FIXTURE_COMMITS = ['280827b', '90bb011', '9c15a93', '6ae0bab', '2182e1f', 'eb87d35', 'cdb953a4'] as const

/** A request that was acknowledged when the database was made. */
export interface AcknowledgedRequest {
  readonly correlation_id: string
  /** The state in which it was left. */
  readonly left: string
  /** The reference_ids of its items, in order. */
  readonly reference_ids: readonly string[]
  /** Records that its answer has in all. */
  readonly records: number
  /** Pages of its answer that the participant has taken already. */
  readonly taken: readonly number[]
}

export const fixtureFile = (commit: string, ending: 'sql' | 'json'): string =>
  fileURLToPath(new URL(`./fixtures/${commit}.${ending}`, import.meta.url))
