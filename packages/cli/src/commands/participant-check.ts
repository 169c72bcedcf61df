/** `rollcall participant check`: checks what the system of a sandbox participant has done. */
import { setTimeout as sleep } from 'node:timers/promises'
import { checkParticipant } from '@rollcall/admin/participants/check'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { EXIT_CODES } from '../failure.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { checkReportText } from '../participant-text.ts'
import { listenForStop } from '../stop.ts'
import { makeSampleRecords } from '../synthetic-people.ts'
import { readInstant, wholeNumberReader } from '../values.ts'

/** Milliseconds between two checks while the command waits. */
const CHECK_PAUSE_MILLISECONDS = 1_000

const DAY_MILLISECONDS = 86_400_000

export function defineCommand(command: Command): void {
  withJsonOption(command)
    .argument('<sender_id>', 'its sender_id')
    .argument('<namespace>', 'namespace of a sandbox registry in which it has a grant')
    .option('--since <time>', 'what it did at this time or later counts (default: a day ago)', readInstant)
    .option(
      '--wait <seconds>',
      'look again every second, so long or until every step has passed (default: look once)',
      wholeNumberReader(0, 86_400),
      0,
    )
    .addHelpText(
      'after',
      `
Nobody but the participant has its private key. So its own system sends the requests, to a server that runs, and this
command reads from the server's records which of them were verified and answered, and which callbacks were acknowledged.
While the participant's system is at work, the command sends a test notification to its live subscription, and sends a
callback that was acknowledged once more under the same message_id. docs/sandbox.md lists the steps. A step whose
operation is not granted is skipped.

Exit codes: 0 every step has passed, 3 a step is missing.

Example: rollcall participant check new.example.org civil-test --wait 5`,
    )
    .action((sender_id: string, namespace: string, options: CheckOptions) => runCheck({ sender_id, namespace }, options))
}

interface CheckOptions extends OutputOptions {
  readonly since?: Date
  readonly wait: number
}

interface ParticipantAtRegistry {
  readonly sender_id: string
  readonly namespace: string
}

async function runCheck({ sender_id, namespace }: ParticipantAtRegistry, options: CheckOptions): Promise<void> {
  const { signal } = listenForStop()
  const begun = Date.now()
  const since = (options.since ?? new Date(begun - DAY_MILLISECONDS)).toISOString()
  const report = await withDatabase(async (deps) => {
    for (;;) {
      const found = await checkParticipant({ ...deps, samples: makeSampleRecords }, { sender_id, namespace, since })
      const isOver = Date.now() - begun >= options.wait * 1_000
      if (found.passed || isOver || signal.aborted) return found
      await sleep(CHECK_PAUSE_MILLISECONDS, undefined, { signal }).catch(() => undefined)
    }
  })
  printResult(options, report, checkReportText(report))
  if (!report.passed) process.exitCode = EXIT_CODES.some_rejected
}
