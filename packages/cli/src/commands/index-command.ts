/** `rollcall index`: the indexes that searches need, against those that are there. */
import { applyIndexes, planIndexes } from '@rollcall/admin/registries/indexes'
import type { Command } from 'commander'
import { ask, withDatabase } from '../environment.ts'
import { EXIT } from '../failure.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { reportTasks } from '../progress.ts'
import { stopRequest } from '../stop.ts'

export function addCommand(program: Command): void {
  const index = program.command('index').description('plan and build the indexes that searches need')
  withJson(index.command('plan'))
    .description('compare the declared indexes with those that exist')
    .argument('[namespace]', 'namespace of one registry (default: all registries)')
    .addHelpText(
      'after',
      `
It changes nothing.

Example: rollcall index plan civil`,
    )
    .action(runPlan)
  withJson(index.command('apply'))
    .description('backfill the columns and build the missing indexes, while searches and imports continue')
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

async function runPlan(namespace: string | undefined, options: OutputOptions): Promise<void> {
  stopRequest()
  const plans = await ask(planIndexes, { namespace })
  const columns = ['registry', 'record_type', 'finding', 'name', 'advice']
  const nothing = 'no declared index is missing'
  print(options, plans, table(columns, plans.flatMap(planLines), nothing))
}

type Plan = Awaited<ReturnType<typeof planIndexes>>[number]
type Applied = Awaited<ReturnType<typeof applyIndexes>>[number]

function planLines(plan: Plan) {
  const { namespace: registry, record_type, unfilled, missing, foreign } = plan
  const apply = `rollcall index apply ${registry}`
  const line = (finding: string, name: string, advice: string) => ({ registry, record_type, finding, name, advice })
  return [
    ...unfilled.map((name) => line('not filled', name, `not searchable before ${apply}`)),
    ...missing.map(({ index, state }) => line(`index ${state}`, index, apply)),
    ...foreign.map((name) => line('index without a declaration', name, `if nobody needs it: DROP INDEX ${name}`)),
  ]
}

async function runApply(namespace: string | undefined, options: OutputOptions): Promise<void> {
  const { signal } = stopRequest()
  const progress = reportTasks()
  const rows = await withDatabase(({ db }) =>
    applyIndexes({ db, signal, onProgress: progress.update }, { namespace }),
  ).finally(() => progress.stop())
  print(options, rows, rows.flatMap(appliedLines).join('\n') || 'nothing to do')
  if (signal.aborted || rows.some(({ finished }) => !finished)) process.exitCode = EXIT.interrupted
}

function appliedLines({ namespace, filled, built, finished }: Applied) {
  return [
    ...filled.map((name) => `${namespace}: filled ${name}`),
    ...built.map((name) => `${namespace}: built ${name}`),
    ...(finished ? [] : [`${namespace}: interrupted; run the same command again to resume`]),
  ]
}
