/** `rollcall index apply`: backfills the columns and builds the indexes that searches need. */
import { applyIndexes } from '@rollcall/admin/registries/indexes'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { EXIT_CODES } from '../failure.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { reportTaskProgress } from '../progress.ts'
import { listenForStop } from '../stop.ts'

type AppliedIndexes = Awaited<ReturnType<typeof applyIndexes>>[number]

export function defineCommand(command: Command): void {
  withJsonOption(command)
    .argument('[namespace]', 'namespace of one registry (default: all registries)')
    .addHelpText(
      'after',
      `
You may stop it at any moment; the same command continues from there.

Exit codes: 0 nothing is missing, 4 interrupted, 1 failed.

Example: rollcall index apply civil`,
    )
    .action(runApply)
}

async function runApply(namespace: string | undefined, options: OutputOptions): Promise<void> {
  const { signal } = listenForStop()
  const progress = reportTaskProgress()
  const rows = await withDatabase((deps) =>
    applyIndexes({ ...deps, signal, onProgress: progress.update }, { namespace }),
  ).finally(() => progress.stop())
  printResult(options, rows, rows.flatMap(appliedLines).join('\n') || 'nothing to do')
  if (signal.aborted || rows.some(({ finished }) => !finished)) process.exitCode = EXIT_CODES.interrupted
}

function appliedLines({ namespace, filled, built, finished }: AppliedIndexes) {
  return [
    ...filled.map((name) => `${namespace}: filled ${name}`),
    ...built.map((name) => `${namespace}: built ${name}`),
    ...(finished ? [] : [`${namespace}: interrupted; run the same command again to resume`]),
  ]
}
