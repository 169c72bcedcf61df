import { hash } from 'node:crypto'
import type { Clock } from '@rollcall/base/shared/clock'
import type { Limits } from '@rollcall/core/limits'
import type { Database } from '@rollcall/database/database'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { Log } from '@rollcall/observe/log'
import type { Metrics } from '@rollcall/observe/metrics'
import { canonicalJson } from '@rollcall/protocol'
import type { AuditKeys, AuditSigner, AuditSymmetricKeyKids } from './keys.ts'
import { findNewestCheckpoints, insertCheckpoint, type NewCheckpoint } from './store/checkpoints.ts'
import type { Witness, WitnessState } from './witness.ts'

/** The signed content of a checkpoint, as canonical JSON. */
export interface CheckpointContent {
  readonly chain: string
  /** The sequence number of the last entry that the checkpoint signs. */
  readonly sequence: number
  /** The hash of the entry `sequence`, in hexadecimal. */
  readonly hash: string
  /** The time at which the checkpoint was made: RFC 3339 in UTC, with milliseconds. */
  readonly at: string
  /** The digest of the chain's previous checkpoint, in hexadecimal; null for the first. */
  readonly previous: string | null
  /**
   * The newest checkpoint of each other chain that has one after a certain time: a minute before the previous checkpoint of this
   * chain. For the first checkpoint of this chain, the time is a minute before the newest checkpoint of any chain.
   */
  readonly others: readonly { readonly chain: string; readonly sequence: number; readonly digest: string }[]
  /** True when the chain has ended: no entry follows. */
  readonly ended: boolean
  /** The state of the witness when the checkpoint was made: whether it had taken the previous ones. */
  readonly witness: WitnessState
  /** The kids of the keys for pseudonyms and for details; absent in the oldest checkpoints. */
  readonly keys?: AuditSymmetricKeyKids
  /** When each active audit key was made, by kid, with microseconds; null: an infinite time. Absent in earlier versions. */
  readonly keys_created?: Readonly<Record<string, string | null>>
}

/** The committed end of a chain. */
export interface ChainEnd {
  readonly id: string
  readonly sequence: number
  readonly hash: Buffer
  /** The database's time of the last entry, in milliseconds since 1970. */
  readonly at: number
}

export interface CheckpointDeps {
  readonly db: Database
  readonly clock: Pick<Clock, 'later'>
  readonly limits: Pick<Limits, 'checkpoint_interval' | 'checkpoint_entries'>
  readonly log: Pick<Log, 'error'>
  readonly metrics: Pick<Metrics, 'checkpointMade'>
  readonly witness: Witness
  readonly keys: () => Promise<Pick<AuditKeys, 'signer' | 'secrets' | 'created'>>
  /** The present time of the database, in milliseconds since 1970. */
  readonly time: () => number
}

/** Signs the entries of this process from time to time, with a checkpoint for each chain. */
export interface CheckpointSigner {
  /** Is called after a commit of entries. Remembers the new end of the chain, and schedules the next checkpoint. */
  committed(end: ChainEnd): void
  /** Remembers that a chain gets no more entries. The entries of a last commit may be stored without our knowledge. */
  abandoned(chain: string): void
  /** Signs the end of each chain, logs a failure to do so, and closes the witness. */
  close(): Promise<void>
}

/** Signs the content of a checkpoint, and returns the row to store. */
export function signCheckpoint(signer: AuditSigner, content: CheckpointContent): NewCheckpoint {
  const text = canonicalJson(content)
  return {
    chain: content.chain,
    sequence: content.sequence,
    hash: Buffer.from(content.hash, 'hex'),
    at: new Date(content.at),
    content: text,
    digest: hash('sha256', text, 'buffer'),
    kid: signer.kid,
    signature: signer.sign(text),
  }
}

interface ChainSigningState {
  end: ChainEnd
  abandoned: boolean
  /** The newest checkpoint of the chain whose commit is certain; `NOTHING_SIGNED`: none yet. */
  signed: { readonly sequence: number; readonly digest: string | null; readonly at: Date | null }
  /** A checkpoint whose commit may have failed. The next checkpoint names it, so it is written again first. */
  uncertain: CheckpointContentAndRow | null
}

interface CheckpointContentAndRow {
  readonly content: CheckpointContent
  readonly row: NewCheckpoint
}

const NOTHING_SIGNED = { sequence: 0, digest: null, at: null }

const hasUnsignedEnd = ({ end, signed }: ChainSigningState): boolean => signed.sequence < end.sequence

export function createCheckpointSigner(deps: CheckpointDeps): CheckpointSigner {
  const { clock, limits, log, metrics, witness } = deps
  const open = new Map<string, ChainSigningState>()
  let scheduled = false
  let signing = false
  let working: Promise<void> = Promise.resolve()

  const sign = async (chain: ChainSigningState, ended: boolean): Promise<void> => {
    if (chain.uncertain !== null) await commitCheckpoint(deps, chain, chain.uncertain)
    if (!ended && !hasUnsignedEnd(chain)) return
    chain.uncertain = await makeCheckpoint(deps, chain, ended)
    await commitCheckpoint(deps, chain, chain.uncertain)
  }

  const signAll = async (closing: boolean): Promise<void> => {
    for (const [id, chain] of open) {
      const ended = closing && !chain.abandoned
      try {
        await sign(chain, ended)
        if (chain.abandoned) open.delete(id)
      } catch (error) {
        metrics.checkpointMade('failed')
        log.error({ database: safeDatabaseError(error) }, 'a checkpoint of the audit log could not be made')
      }
    }
    if (closing) open.clear()
  }

  const work = (closing: boolean): Promise<void> => {
    working = working.then(() => signAll(closing)).then(schedule)
    return working
  }

  /** Starts the timer of the next checkpoint, if entries are unsigned and no timer runs. */
  const schedule = (): void => {
    if (scheduled || ![...open.values()].some(hasUnsignedEnd)) return
    scheduled = true
    clock.later(() => {
      scheduled = false
      void work(false)
    }, limits.checkpoint_interval * 1_000)
  }

  /** Signs checkpoints early, because many entries are unsigned; does nothing while another early signing runs. */
  const signMany = async (): Promise<void> => {
    if (signing) return
    signing = true
    await work(false)
    signing = false
  }

  return {
    committed(end) {
      const known = open.get(end.id)
      if (known === undefined) open.set(end.id, { end, abandoned: false, signed: NOTHING_SIGNED, uncertain: null })
      else known.end = end
      schedule()
      const signed = known?.signed ?? NOTHING_SIGNED
      if (end.sequence - signed.sequence >= limits.checkpoint_entries) void signMany()
    },
    abandoned(chain) {
      const known = open.get(chain)
      if (known === undefined) return
      known.abandoned = true
      schedule()
    },
    async close() {
      await work(true)
      await witness.close()
    },
  }
}

async function makeCheckpoint(
  { db, keys, time, witness }: CheckpointDeps,
  { end, signed }: ChainSigningState,
  ended: boolean,
): Promise<CheckpointContentAndRow> {
  const { signer, secrets, created } = await keys()
  const others = await findNewestCheckpoints(db.pool, end.id, signed.at)
  const at = new Date(Math.max(end.at, Math.trunc(time())))
  const content: CheckpointContent = {
    chain: end.id,
    sequence: end.sequence,
    hash: end.hash.toString('hex'),
    at: at.toISOString(),
    previous: signed.digest,
    others: others.map((other) => ({ ...other, digest: other.digest.toString('hex') })),
    ended,
    witness: witness.state(),
    keys: secrets,
    keys_created: created,
  }
  return { content, row: signCheckpoint(signer, content) }
}

async function commitCheckpoint(
  { db, metrics, witness }: CheckpointDeps,
  chain: ChainSigningState,
  { content, row }: CheckpointContentAndRow,
): Promise<void> {
  await insertCheckpoint(db.pool, row)
  const digest = row.digest.toString('hex')
  chain.uncertain = null
  chain.signed = { sequence: row.sequence, digest, at: row.at }
  metrics.checkpointMade('made')
  // The witness gets a checkpoint after its commit, so the database had all that the witness has.
  await witness.note({ ...content, digest, kid: row.kid })
}
