/** Prunes the audit log: each chain in chunks. A chunk ends at an entry whose hash is signed by a checkpoint of the chain. */

import { type CheckpointContent, signCheckpoint } from '@rollcall/audit/checkpoints'
import { type AuditKeys, loadAuditKeys } from '@rollcall/audit/keys'
import { listAuditKeys } from '@rollcall/audit/store/audit-keys'
import { insertCheckpoint } from '@rollcall/audit/store/checkpoints'
import {
  type CheckpointWithLastEntry,
  deleteChainPart,
  findChainsBegunBefore,
  findLastCheckpoint,
  findNewestCheckpointDigest,
  findOldEntrySigningCheckpoint,
  lockHolds,
  type OldEntryRange,
  type PruneStop,
  readOldEntries,
} from '@rollcall/audit/store/prune-entries'
import { insertTombstone } from '@rollcall/audit/store/tombstones'
import { readDatabaseTime } from '@rollcall/audit/store/write-entries'
import { signTombstone } from '@rollcall/audit/tombstones'
import { createVerifier, type Verifier } from '@rollcall/audit/verify/keys'
import { newReport, type VerificationReport } from '@rollcall/audit/verify/report'
import { verifyAuditLog } from '@rollcall/audit/verify/verify'
import type { Database } from '@rollcall/database/database'
import type { Vault } from '@rollcall/keys/vault'
import { AdminRefusal } from '../admin-function.ts'
import { isoTime } from '../members.ts'

export interface PruneDeps {
  readonly db: Database
  readonly owner: Database
  readonly vault: () => Promise<Vault>
  readonly now?: () => Date
  /** True: entries are only counted, and nothing is deleted. */
  readonly dryRun: boolean
  /** How many entries one transaction reads (default 20,000). The number doubles each time no checkpoint signs any of them. */
  readonly atOnce?: number
}

export interface PruneCounts {
  /** The number of deleted entries; in a dry run, of those that would be deleted. */
  readonly deleted: number
  /** The number of chains in which a hold keeps entries. */
  readonly held: number
}

/**
 * Deletes audit entries from before a month. In each chain the deletion stops before the first entry that a hold keeps, and ends
 * at a checkpoint. Rows that another database role inserted cannot cause a deletion.
 * @param before the beginning of a month
 * @throws AdminRefusal a chain with entries from before the month has faults
 */
export async function pruneAuditLog(deps: PruneDeps, before: Date): Promise<PruneCounts> {
  const { owner } = deps
  const old = await findChainsBegunBefore(owner.kysely, before)
  if (old.length === 0) return { deleted: 0, held: 0 }
  const time = await readDatabaseTime(owner.pool)
  const vault = await deps.vault()
  const { report } = await verifyAuditLog({ db: owner, vault, witness: null })
  // A chain without a checkpoint stays whole, unless its process was killed long ago.
  const chains = old
    .filter(({ chain, signed }) => signed || isChainAbandoned(report.ends.get(chain), time))
    .map(({ chain }) => chain)
  const faulty = chains.find((chain) => report.faulty.has(chain))
  if (faulty !== undefined) throw chainFaultRefusal(faulty)
  const verifier = await createVerifier(await listAuditKeys(owner), vault, newReport())
  const keys = deps.dryRun ? null : await loadAuditKeys(deps.db, await deps.vault())
  const counts = { deleted: 0, held: 0 }
  for (const chain of chains) {
    const { deleted, held } = await pruneChain({ ...deps, report, verifier, keys, time }, chain, before)
    counts.deleted += deleted
    counts.held += held ? 1 : 0
  }
  return counts
}

const chainFaultRefusal = (chain: string): AdminRefusal =>
  new AdminRefusal(`chain ${chain} has faults, which rollcall audit verify names: no audit entries are deleted`, {
    reason: 'conflict',
  })

interface ChainPruneDeps extends PruneDeps {
  readonly report: VerificationReport
  readonly verifier: Pick<Verifier, 'isSigned'>
  /** The keys that sign; null for a dry run, which signs nothing. */
  readonly keys: AuditKeys | null
  /** The time by the database's clock, which also sets the times of entries. */
  readonly time: Date
}

const DEFAULT_CHUNK_ENTRIES = 20_000

async function pruneChain(
  pruning: ChainPruneDeps,
  chain: string,
  before: Date,
): Promise<{ readonly deleted: number; readonly held: boolean }> {
  const { owner, keys, atOnce = DEFAULT_CHUNK_ENTRIES } = pruning
  let [deleted, after, most] = [0, 0, atOnce]
  for (;;) {
    const step = await owner.kysely.transaction().execute(async (transaction) => {
      if (keys !== null) await lockHolds(transaction)
      const { chunk, stop } = await readOldEntries(transaction, { chain, after, before, most })
      const part = chunk === null ? null : await findSignedOldEntries({ ...pruning, transaction }, chunk, { stop, after, before })
      if (part !== null && keys !== null) {
        const { sequence, hash } = part
        await deleteChainPart(transaction, part)
        const tombstone = {
          kind: 'prune' as const,
          at: nowText(pruning),
          reason: `older than its retention: before ${isoTime(before)}`,
          pruned: [{ chain, sequence, hash: hash.toString('hex') }],
        }
        await insertTombstone(transaction, signTombstone(keys.signer, tombstone))
      }
      return { part, stop }
    })
    deleted += step.part?.entries ?? 0
    if (step.stop !== null) return { deleted, held: step.stop === 'held' }
    // If `part` is null, no checkpoint lets these entries be deleted: the next step reads twice as many, to find one.
    most = step.part === null ? most * 2 : atOnce
    after = step.part?.sequence ?? after
  }
}

/**
 * Returns the part of a chunk that a checkpoint signs: the whole chunk, or its part up to the last checkpoint. A checkpoint does
 * not count if the last entry that it signs is from `before` or later. Null: no checkpoint signs an entry of the chunk. If the
 * chunk ends the chain of a killed process, no checkpoint will come: then the last entry is signed here, and the whole chunk is
 * returned. A dry run signs nothing.
 */
async function findSignedOldEntries(
  pruning: ChainPruneDeps & { readonly transaction: Database['kysely'] },
  chunk: OldEntryRange,
  { stop, after, before }: { readonly stop: PruneStop; readonly after: number; readonly before: Date },
): Promise<OldEntryRange | null> {
  const { transaction, report, verifier, keys, time } = pruning
  const { chain, sequence } = chunk
  const end = report.ends.get(chain)
  if (stop === 'end' && end?.to === sequence && isChainAbandoned(end, time)) {
    if (keys !== null) await signAbandonedChainEnd(pruning, chunk, keys)
    return chunk
  }
  const closing = await findOldEntrySigningCheckpoint(transaction, chunk, before)
  const found = closing ?? (await findLastCheckpoint(transaction, { chain, after, upTo: sequence }))
  if (found !== null && !(verifier.isSigned(found) && isContentOfEntry(found))) throw chainFaultRefusal(chain)
  return closing === null ? found : chunk
}

/** Milliseconds after which the process of a chain with an unsigned end counts as killed: a running one signs within seconds. */
const ABANDONED_CHAIN_MS = 86_400_000

const isChainAbandoned = (end: { readonly at: string } | undefined, time: Date): boolean =>
  end !== undefined && Date.parse(end.at) < time.getTime() - ABANDONED_CHAIN_MS

/** True when the content of a checkpoint names chain, number and hash of the stored entry. The caller verifies its signature. */
function isContentOfEntry({ chain, sequence, hash, content }: CheckpointWithLastEntry): boolean {
  const signed = JSON.parse(content) as CheckpointContent
  return signed.chain === chain && signed.sequence === sequence && signed.hash === hash.toString('hex')
}

/**
 * Inserts a checkpoint that signs the end of a chain whose process was killed. The witness (`witness.ts` of audit) does not get
 * this checkpoint, but gets the next one of the running process, which names it.
 */
async function signAbandonedChainEnd(
  pruning: ChainPruneDeps,
  { chain, sequence, hash }: OldEntryRange,
  { signer, secrets }: AuditKeys,
): Promise<void> {
  const content: CheckpointContent = {
    chain,
    sequence,
    hash: hash.toString('hex'),
    at: nowText(pruning),
    previous: await findNewestCheckpointDigest(pruning.owner.kysely, chain),
    others: [],
    ended: true,
    witness: 'none',
    keys: secrets,
  }
  await insertCheckpoint(pruning.owner.pool, signCheckpoint(signer, content))
}

const nowText = ({ now = () => new Date() }: Pick<PruneDeps, 'now'>): string => now().toISOString()
