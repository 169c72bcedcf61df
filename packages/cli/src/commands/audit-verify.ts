/** `rollcall audit verify`: verifies that the audit log is complete and unchanged. */
import { createReadStream } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { verifyWholeAuditLog } from '@rollcall/admin/audit/verify'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { CommandError, EXIT_CODES } from '../failure.ts'
import { countWithNoun, type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'

export function defineCommand(command: Command): void {
  withJsonOption(command)
    .option('--against <file>', 'compare with this file of the witness, or of its syslog server')
    .addHelpText(
      'after',
      `
It reads the audit log as it is at one moment, beside a running server. Without the master key it does not verify that
the keys are our own: compare their fingerprints with those that you have written down (rollcall audit keys).

Exit codes: 0 nothing was found, 1 something was, which is printed with its chain and the number of its entry.

Example: rollcall audit verify --against rollcall-witness`,
    )
    .action(runVerify)
}

interface VerifyOptions extends OutputOptions {
  readonly against?: string
}

async function runVerify({ against, ...options }: VerifyOptions): Promise<void> {
  listenForStop()
  const witness = against === undefined ? null : await currentWitnessLines(against)
  const verified = await withDatabase((deps) => verifyWholeAuditLog({ ...deps, witness }, {}))
  printResult(options, verified, verificationText(verified))
  if (!verified.good) process.exitCode = EXIT_CODES.failed
}

/**
 * Returns the lines that the file of the witness (the copy of checkpoints outside of the database) has at the call. Lines that
 * are added later are left out: they may be about entries after the snapshot of the audit log.
 */
async function currentWitnessLines(path: string): Promise<AsyncIterable<string>> {
  const found = await access(path, constants.R_OK)
    .then(() => stat(path))
    .catch(() => null)
  if (!found?.isFile()) throw new CommandError(`the file of the witness cannot be read: ${path}`)
  return linesOfFirstBytes(path, found.size)
}

/** Yields the lines in the first `size` bytes. The file is opened only when the caller asks for the first line. */
async function* linesOfFirstBytes(path: string, size: number): AsyncGenerator<string> {
  if (size > 0) yield* createInterface({ input: createReadStream(path, { end: size - 1 }) })
}

type AuditVerification = Awaited<ReturnType<typeof verifyWholeAuditLog>>

function verificationText({
  good,
  counts,
  fault_count,
  faults,
  unsigned,
  unsigned_tails,
  restores,
  keys,
  own_keys,
}: AuditVerification): string {
  const read = `${countWithNoun(counts.entries, 'entry', 'entries')} of ${countWithNoun(counts.chains, 'chain')}, ${countWithNoun(counts.persons, 'row')} of persons, ${countWithNoun(counts.checkpoints, 'checkpoint')}`
  const lines = [
    good ? `verified: ${read}` : `NOT VERIFIED, faults: ${fault_count}; read ${read}`,
    ...faults.map(
      ({ meaning, chain, sequence, detail }) =>
        `- ${[chain === null ? '' : `chain ${chain}`, sequence === null ? '' : `entry ${sequence}`, detail ?? ''].filter(Boolean).join(', ')}: ${meaning}`,
    ),
    ...(fault_count > faults.length ? [`- and ${fault_count - faults.length} more`] : []),
  ]
  const removals = counts.tombstones - restores.length
  if (removals > 0)
    lines.push(
      `removed by ${countWithNoun(removals, 'tombstone')}: ${countWithNoun(counts.pruned, 'entry', 'entries')}, ${countWithNoun(counts.erased, 'row')} of persons`,
    )
  for (const { at, snapshot_at, backup, journal, reason, open, witnessed } of restores) {
    const by = backup === null ? 'by other means' : `from backup ${backup}`
    lines.push(
      `restored at ${at} ${by}, as it was at ${snapshot_at}: audit entries in between are lost, ${countWithNoun(witnessed, 'checkpoint')} of the witness among them`,
      journal === null ? `- without the journal: ${reason}` : `- ${journal} acts of the journal were applied`,
      ...open.map(({ chain, sequence }) => `- chain ${chain}: what followed entry ${sequence} is lost`),
    )
  }
  if (counts.witnessed > 0) lines.push(`compared with ${countWithNoun(counts.witnessed, 'checkpoint')} of the witness`)
  if (unsigned > 0) {
    lines.push(`not signed by a checkpoint: ${countWithNoun(unsigned, 'entry', 'entries')} at the ends of chains`)
    for (const { chain, from, to, at } of unsigned_tails) lines.push(`- chain ${chain}, entries ${from} to ${to}, ${at}`)
  }
  if (counts.unsealed_reviews > 0)
    lines.push(
      `reviews of earlier versions: ${counts.unsealed_reviews}; nothing says whether their operator and their time were changed`,
    )
  lines.push(...keys.map((kid) => `signed with ${kid}`))
  if (!own_keys) lines.push('There is no master key here: compare these keys with those that you have written down.')
  if (!own_keys && counts.reviews > 0)
    lines.push(`not verified: ${counts.reviews} reviews of emergencies, whose seals the master key opens`)
  return lines.join('\n')
}
